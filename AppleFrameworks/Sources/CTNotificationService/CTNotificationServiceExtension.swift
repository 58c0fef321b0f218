@_exported import Groundwork
@_exported import UserNotifications
import VendorMedia

/// A stand-in for CleverTap's service extension: it attaches the medium of `ct_mediaUrl`.
open class CTNotificationServiceExtension: UNNotificationServiceExtension {
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  open var mediaUrlKey: String! = "ct_mediaUrl"
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  open var mediaTypeKey: String! = "ct_mediaType"

  private let lock = NSLock()
  private var handler: ((UNNotificationContent) -> Void)?
  private var original: UNNotificationContent?

  open override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    lock.withLock { (handler, original) = (contentHandler, request.content) }
    let info = request.content.userInfo
    guard let url = info[mediaUrlKey ?? ""] as? String, let content = request.content.mutableCopy() as? UNMutableNotificationContent else {
      return answer(request.content)
    }
    let endings = ["image": "jpg", "video": "mp4", "audio": "mp3", "gif": "gif"]
    let ending = (info[mediaTypeKey ?? ""] as? String).flatMap { endings[$0] }
    VendorMedia.attach([VendorMedia.Medium(url: url, ending: ending)], to: content, for: "CTNotificationService") { [weak self] in
      self?.answer($0)
    }
  }

  open override func serviceExtensionTimeWillExpire() {
    if let original = lock.withLock({ original }) { answer(original) }
  }

  private func answer(_ content: UNNotificationContent) {
    let handler = lock.withLock {
      defer { self.handler = nil }
      return self.handler
    }
    handler?(content)
  }
}
