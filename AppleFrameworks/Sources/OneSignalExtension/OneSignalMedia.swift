@_exported import Groundwork
@_exported import UserNotifications
import VendorMedia

/// What OneSignal's helper reads: the media in `os_data.att`, else in `att`, by their identifiers.
package enum OneSignalMedia {
  package static func media(of userInfo: [AnyHashable: Any]) -> [VendorMedia.Medium] {
    let data = userInfo["os_data"] as? [AnyHashable: Any]
    let holder = data ?? userInfo
    let found = (holder["att"] ?? holder["at"]) as? [AnyHashable: Any] ?? [:]
    return found.compactMap { name, url in
      guard let url = url as? String else { return nil }
      let trimmed = url.trimmingCharacters(in: .whitespacesAndNewlines)
      let file = URLComponents(string: trimmed)?.queryItems?.first { $0.name == "filename" }?.value
      let ending = file.map { ($0 as NSString).pathExtension }.flatMap { $0.isEmpty ? nil : $0 }
      return VendorMedia.Medium(url: trimmed, identifier: "\(name)", ending: ending)
    }.sorted { $0.identifier < $1.identifier }
  }

  package static func attach(
    _ request: UNNotificationRequest?, _ content: UNMutableNotificationContent?, for vendor: String,
    _ contentHandler: ((UNNotificationContent) -> Void)?
  ) -> UNMutableNotificationContent? {
    let original = request?.content.mutableCopy() as? UNMutableNotificationContent
    guard let content = content ?? original else { return nil }
    nonisolated(unsafe) let contentHandler = contentHandler
    VendorMedia.attach(media(of: content.userInfo), to: content, for: vendor) { contentHandler?($0) }
    return content
  }

  /// Attaches and waits, as the interface without a handler does.
  package static func attachAndWait(
    _ request: UNNotificationRequest?, _ content: UNMutableNotificationContent?, for vendor: String
  ) -> UNMutableNotificationContent? {
    let semaphore = DispatchSemaphore(value: 0)
    let content = attach(request, content, for: vendor) { _ in semaphore.signal() }
    if content != nil { _ = semaphore.wait(timeout: .now() + 25) }
    return content
  }
}
