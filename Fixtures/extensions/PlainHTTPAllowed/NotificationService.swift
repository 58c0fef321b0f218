// Reports the delivery to a server by plain http. The Info.plist has an exception for it.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    URLSession.shared.dataTask(with: URL(string: "http://stats.example.com/received")!) { _, _, _ in
      contentHandler(request.content)
    }.resume()
  }
}
