// Sleeps, and answers long after the time is over.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    print("waiting for ever")
    Thread.sleep(forTimeInterval: 60)
    contentHandler(request.content)
  }
}
