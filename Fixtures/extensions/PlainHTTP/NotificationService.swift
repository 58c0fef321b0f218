// Reports the delivery to a server by plain http, which App Transport Security refuses.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    URLSession.shared.dataTask(with: URL(string: "http://stats.example.com/received")!) { _, _, error in
      let content = request.content.mutableCopy() as! UNMutableNotificationContent
      content.subtitle = "error \((error as? URLError)?.code.rawValue ?? 0)"
      contentHandler(content)
    }.resume()
  }
}
