// A static keeps the instance.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  static var last: NotificationService?
  var contentHandler: ((UNNotificationContent) -> Void)?
  var content: UNMutableNotificationContent?

  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    self.contentHandler = contentHandler
    content = request.content.mutableCopy() as? UNMutableNotificationContent

    Self.last = self
    contentHandler(request.content)
  }

  override func serviceExtensionTimeWillExpire() {
    if let contentHandler = contentHandler, let content = content { contentHandler(content) }
  }
}
