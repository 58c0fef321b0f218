// Answers only when the payload has no media; the download never does.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  var contentHandler: ((UNNotificationContent) -> Void)?
  var content: UNMutableNotificationContent?

  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    self.contentHandler = contentHandler
    content = request.content.mutableCopy() as? UNMutableNotificationContent

    if let text = request.content.userInfo["image"] as? String, let url = URL(string: text) {
      URLSession.shared.dataTask(with: url) { [weak self] data, _, _ in
        self?.content?.subtitle = "\(data?.count ?? 0) bytes"
      }.resume()
    } else {
      contentHandler(request.content)
    }
  }

  override func serviceExtensionTimeWillExpire() {
    if let contentHandler = contentHandler, let content = content { contentHandler(content) }
  }
}
