// Counts the notifications in a file, and shows the count and the process that serves.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let content = request.content.mutableCopy() as! UNMutableNotificationContent
    let file = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask)[0].appendingPathComponent("count")
    let count = ((try? String(contentsOf: file, encoding: .utf8)).flatMap { Int($0) } ?? 0) + 1
    try? "\(count)".write(to: file, atomically: true, encoding: .utf8)
    content.subtitle = "\(ProcessInfo.processInfo.processIdentifier) \(count)"
    contentHandler(content)
  }
}
