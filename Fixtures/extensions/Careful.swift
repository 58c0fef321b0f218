// A service extension without mistakes: one answer on every path, the status and the type checked,
// the download cancelled when the time is over, and nothing left behind.
import UserNotifications

final class NotificationService: UNNotificationServiceExtension {
  private let lock = NSLock()
  private var contentHandler: ((UNNotificationContent) -> Void)?
  private var content: UNNotificationContent?
  private var task: URLSessionTask?

  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    lock.lock()
    self.contentHandler = contentHandler
    content = request.content
    lock.unlock()
    guard let text = request.content.userInfo["image"] as? String, let url = URL(string: text), url.scheme?.hasPrefix("http") == true else {
      return answer()
    }
    // Asks for the type and the size first: what UserNotifications would refuse is not downloaded.
    var question = URLRequest(url: url)
    question.httpMethod = "HEAD"
    start(
      URLSession.shared.dataTask(with: question) { [weak self] _, response, _ in
        guard let self = self else { return }
        guard let type = self.type(of: response), response?.expectedContentLength ?? .max <= type.limit else { return self.answer() }
        self.start(
          URLSession.shared.downloadTask(with: url) { [weak self] file, response, _ in self?.answer(self?.attachment(file, response)) })
      })
  }

  private func start(_ next: URLSessionTask) {
    lock.lock()
    let isOver = contentHandler == nil
    task = next
    lock.unlock()
    if !isOver { next.resume() }
  }

  override func serviceExtensionTimeWillExpire() {
    lock.lock()
    let task = self.task
    lock.unlock()
    answer()
    task?.cancel()
  }

  private struct MediaType {
    var ending: String
    var limit: Int64
  }

  /// Some of the types that Apple lists, with its limits.
  private let types = [
    "image/jpeg": MediaType(ending: "jpg", limit: 10_000_000), "image/png": MediaType(ending: "png", limit: 10_000_000),
    "video/mp4": MediaType(ending: "mp4", limit: 50_000_000),
  ]

  private func type(of response: URLResponse?) -> MediaType? {
    guard let response = response as? HTTPURLResponse, response.statusCode == 200, let mime = response.mimeType else { return nil }
    return types[mime]
  }

  private func attachment(_ file: URL?, _ response: URLResponse?) -> UNNotificationAttachment? {
    guard let file = file, let type = type(of: response), let size = (try? file.resourceValues(forKeys: [.fileSizeKey]))?.fileSize,
      Int64(size) <= type.limit
    else { return nil }
    let place = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).appendingPathExtension(type.ending)
    do {
      try FileManager.default.moveItem(at: file, to: place)
      return try UNNotificationAttachment(identifier: "", url: place, options: nil)
    } catch {
      try? FileManager.default.removeItem(at: place)
      return nil
    }
  }

  /// Answers once. Later calls do nothing.
  private func answer(_ attachment: UNNotificationAttachment? = nil) {
    lock.lock()
    let (handler, content) = (contentHandler, self.content)
    (contentHandler, self.content) = (nil, nil)
    lock.unlock()
    guard let handler = handler, let original = content else { return }
    guard let attachment = attachment, let better = original.mutableCopy() as? UNMutableNotificationContent else { return handler(original) }
    better.attachments = [attachment]
    handler(better)
  }
}
