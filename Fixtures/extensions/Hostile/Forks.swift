// Starts programs that outlive the request, and never answers.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    for _ in 0..<3 {
      let sleeper = Process()
      sleeper.executableURL = URL(fileURLWithPath: "/bin/sleep")
      sleeper.arguments = ["60"]
      try? sleeper.run()
    }
  }
}
