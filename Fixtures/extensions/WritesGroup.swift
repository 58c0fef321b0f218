// Leaves the title in the app group, its defaults and the keychain, for the app.
import Security
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let (group, title) = ("group.com.example.app", request.content.title)
    if let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) {
      try? title.write(to: folder.appendingPathComponent("title.txt"), atomically: true, encoding: .utf8)
    }
    UserDefaults(suiteName: group)?.set(title, forKey: "title")
    let item: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "title", kSecValueData as String: Data(title.utf8),
    ]
    SecItemAdd(item as CFDictionary, nil)
    contentHandler(request.content)
  }
}
