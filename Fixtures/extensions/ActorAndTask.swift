// Downloads in a task, and answers by an actor.
import UserNotifications

actor Answers {
  private var handler: ((UNNotificationContent) -> Void)?

  init(_ handler: @escaping (UNNotificationContent) -> Void) {
    self.handler = handler
  }

  func give(_ content: UNNotificationContent) {
    handler?(content)
    handler = nil
  }
}

final class NotificationService: UNNotificationServiceExtension {
  private var answers: Answers?
  private var original: UNNotificationContent?
  private var task: Task<Void, Never>?

  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let answers = Answers(contentHandler)
    (self.answers, original) = (answers, request.content)
    task = Task {
      let content = request.content.mutableCopy() as! UNMutableNotificationContent
      if let text = request.content.userInfo["image"] as? String, let url = URL(string: text), let attachment = try? await Self.attach(url) {
        content.attachments.append(attachment)
      }
      await answers.give(content)
    }
  }

  override func serviceExtensionTimeWillExpire() {
    task?.cancel()
    guard let answers = answers, let original = original else { return }
    Task { await answers.give(original) }
  }

  private static func attach(_ url: URL) async throws -> UNNotificationAttachment? {
    let (file, response) = try await URLSession.shared.download(from: url)
    guard (response as? HTTPURLResponse)?.statusCode == 200 else { return nil }
    let place = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + "-" + url.lastPathComponent)
    try FileManager.default.moveItem(at: file, to: place)
    return try UNNotificationAttachment(identifier: UUID().uuidString, url: place)
  }
}
