@_exported import Groundwork
@_exported import UserNotifications
import VendorMedia

/// A stand-in for the part of Firebase Cloud Messaging that service extensions use.
open class Messaging: NSObject {
  private static let shared = Messaging()

  open class func messaging() -> Messaging {
    shared
  }

  open class func serviceExtension() -> MessagingExtensionHelper {
    MessagingExtensionHelper()
  }

  /// Does nothing: there is no server to report to.
  @discardableResult
  open func appDidReceiveMessage(_ message: [AnyHashable: Any]) -> MessagingMessageInfo {
    MessagingMessageInfo()
  }
}

open class MessagingMessageInfo: NSObject {}

/// Attaches the picture of `fcm_options.image`.
open class MessagingExtensionHelper: NSObject {
  open func populateNotificationContent(
    _ content: UNMutableNotificationContent, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    nonisolated(unsafe) let contentHandler = contentHandler
    let options = content.userInfo["fcm_options"] as? [AnyHashable: Any]
    let media = (options?["image"] as? String).map { [VendorMedia.Medium(url: $0)] } ?? []
    VendorMedia.attach(media, to: content, for: "FirebaseMessaging") { contentHandler($0) }
  }

  /// Does nothing: there is no server to report to.
  open func exportDeliveryMetricsToBigQuery(withMessageInfo info: [AnyHashable: Any]) {}
}

public typealias FIRMessagingExtensionHelper = MessagingExtensionHelper
