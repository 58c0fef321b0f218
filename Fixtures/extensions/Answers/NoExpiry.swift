// Has no serviceExtensionTimeWillExpire.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  var contentHandler: ((UNNotificationContent) -> Void)?
  var content: UNMutableNotificationContent?

  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    self.contentHandler = contentHandler
    content = request.content.mutableCopy() as? UNMutableNotificationContent
    guard let content = content, let text = request.content.userInfo["image"] as? String, let url = URL(string: text) else {
      contentHandler(request.content)
      return
    }

    URLSession.shared.dataTask(with: url) { _, _, _ in contentHandler(content) }.resume()
  }
}
