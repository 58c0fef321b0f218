// Reads its texts from a table of strings.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let content = request.content.mutableCopy() as! UNMutableNotificationContent
    content.title = NSLocalizedString("greeting", comment: "")
    content.subtitle = NSString.localizedUserNotificationString(forKey: "from", arguments: ["Anna"])
    contentHandler(content)
  }
}
