// Gives the download 15 of the 30 seconds, and waits for it with await.
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
    Task {
      _ = try? await URLSession.shared.data(for: question)
      contentHandler(request.content)
    }
  }
}
