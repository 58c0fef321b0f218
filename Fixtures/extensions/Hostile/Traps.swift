// Ends by a trap on every notification.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let numbers: [Int] = []
    print(numbers[request.content.userInfo.count + 1])
  }
}
