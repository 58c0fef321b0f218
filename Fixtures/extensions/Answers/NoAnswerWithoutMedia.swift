// Answers a payload without media at the expiry only.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  var contentHandler: ((UNNotificationContent) -> Void)?
  var content: UNMutableNotificationContent?

  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    self.contentHandler = contentHandler
    content = request.content.mutableCopy() as? UNMutableNotificationContent

    guard let content = content, let text = request.content.userInfo["image"] as? String, let url = URL(string: text) else { return }
    URLSession.shared.downloadTask(with: url) { file, _, _ in
      if let file = file {
        let place = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(UUID().uuidString + ".jpg")
        try? FileManager.default.moveItem(at: file, to: place)
        if let attachment = try? UNNotificationAttachment(identifier: "", url: place, options: nil) { content.attachments = [attachment] }
      }
      contentHandler(content)
    }.resume()
  }

  override func serviceExtensionTimeWillExpire() {
    if let contentHandler = contentHandler, let content = content { contentHandler(content) }
  }
}
