// Waits for the download with a semaphore, for as long as it takes.
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

    let semaphore = DispatchSemaphore(value: 0)
    URLSession.shared.dataTask(with: url) { _, _, _ in semaphore.signal() }.resume()
    semaphore.wait()
    contentHandler(content)
  }

  override func serviceExtensionTimeWillExpire() {
    if let contentHandler = contentHandler, let content = content { contentHandler(content) }
  }
}
