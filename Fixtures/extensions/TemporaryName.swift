// Attaches the file under its temporary name, without a type.
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
      if let file = file, let attachment = try? UNNotificationAttachment(identifier: "", url: file, options: nil) {
        content.attachments = [attachment]
      }
      contentHandler(content)
    }.resume()
  }

  override func serviceExtensionTimeWillExpire() {
    if let contentHandler = contentHandler, let content = content { contentHandler(content) }
  }
}
