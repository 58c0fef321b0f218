// Gives every picture the same name.
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

    URLSession.shared.downloadTask(with: url) { file, _, _ in
      let place = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent("picture.jpg")
      if let file = file {
        try? FileManager.default.removeItem(at: place)
        try? FileManager.default.moveItem(at: file, to: place)
      }
      // The work on a picture takes a moment.
      DispatchQueue.global().asyncAfter(deadline: .now() + 0.15) {
        if let attachment = try? UNNotificationAttachment(identifier: "", url: place, options: nil) { content.attachments = [attachment] }
        contentHandler(content)
      }
    }.resume()
  }

  override func serviceExtensionTimeWillExpire() {
    if let contentHandler = contentHandler, let content = content { contentHandler(content) }
  }
}
