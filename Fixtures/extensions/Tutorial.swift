// The service extension that tutorials show, with the mistakes that they have in common.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {

  var contentHandler: ((UNNotificationContent) -> Void)?
  var bestAttemptContent: UNMutableNotificationContent?

  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    self.contentHandler = contentHandler
    bestAttemptContent = (request.content.mutableCopy() as? UNMutableNotificationContent)

    guard let bestAttemptContent = bestAttemptContent else { return }
    guard let text = request.content.userInfo["image"] as? String, let url = URL(string: text) else {
      contentHandler(bestAttemptContent)
      return
    }
    URLSession.shared.downloadTask(with: url) { location, _, _ in
      if let location = location {
        let target = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent("\(UUID().uuidString).jpg")
        try? FileManager.default.moveItem(at: location, to: target)
        if let attachment = try? UNNotificationAttachment(identifier: "image", url: target, options: nil) {
          bestAttemptContent.attachments = [attachment]
        }
      }
      contentHandler(bestAttemptContent)
    }.resume()
  }

  override func serviceExtensionTimeWillExpire() {
    if let contentHandler = contentHandler, let bestAttemptContent = bestAttemptContent {
      contentHandler(bestAttemptContent)
    }
  }
}
