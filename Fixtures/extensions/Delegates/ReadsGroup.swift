// Completes if it finds what an extension has left in the app group, the defaults and the keychain.
import Security
import UIKit

@main
class AppDelegate: UIResponder, UIApplicationDelegate {
  let group = "group.com.example.app"

  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
  ) async -> UIBackgroundFetchResult {
    let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group)
    let text = folder.flatMap { try? String(contentsOf: $0.appendingPathComponent("title.txt"), encoding: .utf8) }
    let title = UserDefaults(suiteName: group)?.string(forKey: "title")
    let query: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "title", kSecReturnData as String: true,
    ]
    var item: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &item)
    let secret = (item as? Data).map { String(decoding: $0, as: UTF8.self) }
    print(text ?? "no file", title ?? "no default", status, secret ?? "no secret")
    guard text?.isEmpty == false, text == title, text == secret else {
      try? await Task.sleep(nanoseconds: 60_000_000_000)
      return .failed
    }
    return .noData
  }
}
