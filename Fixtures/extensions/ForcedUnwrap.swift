// Unwraps a key that a payload need not have.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  var contentHandler: ((UNNotificationContent) -> Void)?
  var content: UNMutableNotificationContent?

  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    self.contentHandler = contentHandler
    content = request.content.mutableCopy() as? UNMutableNotificationContent

    let url = URL(string: request.content.userInfo["image"] as! String)!
    URLSession.shared.dataTask(with: url) { [weak self] _, _, _ in
      if let content = self?.content { contentHandler(content) }
    }.resume()
  }

  override func serviceExtensionTimeWillExpire() {
    if let contentHandler = contentHandler, let content = content { contentHandler(content) }
  }
}
