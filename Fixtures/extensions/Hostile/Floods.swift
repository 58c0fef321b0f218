// Prints without end, and never answers.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    while true { print(String(repeating: "flood ", count: 10_000)) }
  }
}
