// Uses a declaration of the file beside it.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let content = request.content.mutableCopy() as! UNMutableNotificationContent
    content.body = Emphasis.strong.applied(to: content.body).shouted
    contentHandler(content)
  }
}
