// Gives the download 15 of the 30 seconds. So it answers in time without an expiry method.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    guard let text = request.content.userInfo["image"] as? String, let url = URL(string: text) else {
      return contentHandler(request.content)
    }
    var question = URLRequest(url: url)
    question.timeoutInterval = 15
    URLSession.shared.downloadTask(with: question) { _, _, _ in contentHandler(request.content) }.resume()
  }
}
