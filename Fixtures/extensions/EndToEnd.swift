// Decrypts the text and the picture of a notification. The key is in the app group's keychain.
import CryptoKit
import Security
import UserNotifications

final class NotificationService: UNNotificationServiceExtension {
  private let lock = NSLock()
  private var contentHandler: ((UNNotificationContent) -> Void)?
  private var content: UNNotificationContent?
  private var task: URLSessionTask?

  /// What the sender encrypts.
  private struct Message: Decodable {
    var title: String
    var body: String
    var picture: URL?
  }

  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    lock.withLock { (self.contentHandler, content) = (contentHandler, request.content) }
    guard let text = request.content.userInfo["encrypted"] as? String, let bytes = Data(base64Encoded: text), let key = Self.key(),
      let plain = try? Self.open(bytes, key), let message = try? JSONDecoder().decode(Message.self, from: plain),
      let better = request.content.mutableCopy() as? UNMutableNotificationContent
    else { return answer() }
    better.title = message.title
    better.body = message.body
    better.userInfo["encrypted"] = nil
    lock.withLock { content = better }
    guard let url = message.picture else { return answer() }
    let task = URLSession.shared.downloadTask(with: url) { [weak self] file, response, _ in
      guard (response as? HTTPURLResponse)?.statusCode == 200, let file, let sealed = try? Data(contentsOf: file),
        let picture = try? Self.open(sealed, key)
      else { return self?.answer() ?? () }
      let place = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".jpg")
      guard (try? picture.write(to: place)) != nil, let attachment = try? UNNotificationAttachment(identifier: "", url: place) else {
        try? FileManager.default.removeItem(at: place)
        return self?.answer() ?? ()
      }
      self?.answer(with: attachment)
    }
    lock.withLock { self.task = task }
    task.resume()
  }

  override func serviceExtensionTimeWillExpire() {
    lock.withLock { task }?.cancel()
    answer()
  }

  private static func open(_ bytes: Data, _ key: SymmetricKey) throws -> Data {
    try AES.GCM.open(AES.GCM.SealedBox(combined: bytes), using: key)
  }

  private static func key() -> SymmetricKey? {
    let query: [CFString: Any] = [
      kSecClass: kSecClassGenericPassword, kSecAttrService: "notifications", kSecAttrAccessGroup: "group.com.example.app",
      kSecReturnData: true,
    ]
    var item: CFTypeRef?
    guard SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess, let data = item as? Data else { return nil }
    return SymmetricKey(data: data)
  }

  private func answer(with attachment: UNNotificationAttachment? = nil) {
    let (handler, content) = lock.withLock {
      defer { contentHandler = nil }
      return (contentHandler, self.content)
    }
    guard let handler, let content else { return }
    guard let attachment, let better = content.mutableCopy() as? UNMutableNotificationContent else { return handler(content) }
    better.attachments = [attachment]
    handler(better)
  }
}
