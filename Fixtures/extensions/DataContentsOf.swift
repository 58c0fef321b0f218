// Loads the whole body into memory, on the thread of didReceive.
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

    if let data = try? Data(contentsOf: url) {
      let place = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(UUID().uuidString + "." + url.pathExtension)
      try? data.write(to: place)
      if let attachment = try? UNNotificationAttachment(identifier: "image", url: place, options: nil) { content.attachments = [attachment] }
    }
    contentHandler(content)
  }

  override func serviceExtensionTimeWillExpire() {
    if let contentHandler = contentHandler, let content = content { contentHandler(content) }
  }
}
