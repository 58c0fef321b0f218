// Counts in the app group's defaults, and keeps the last title in the group's folder.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let content = request.content.mutableCopy() as! UNMutableNotificationContent
    let defaults = UserDefaults(suiteName: "group.com.example.app")
    let count = (defaults?.integer(forKey: "count") ?? 0) + 1
    defaults?.set(count, forKey: "count")
    defaults?.set(nil, forKey: "nothing")
    content.badge = NSNumber(value: count)
    if let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.com.example.app") {
      try? content.title.write(to: folder.appendingPathComponent("last.txt"), atomically: true, encoding: .utf8)
    }
    contentHandler(content)
  }
}
