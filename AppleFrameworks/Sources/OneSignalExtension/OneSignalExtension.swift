import Groundwork
import UserNotifications

/// A stand-in for OneSignal's class. It attaches what the payload names, and reports nothing.
open class OneSignalExtension: NSObject {
  @discardableResult
  open class func didReceiveNotificationExtensionRequest(
    _ request: UNNotificationRequest?, with content: UNMutableNotificationContent?,
    withContentHandler contentHandler: ((UNNotificationContent) -> Void)?
  ) -> UNMutableNotificationContent? {
    OneSignalMedia.attach(request, content, for: "OneSignalExtension", contentHandler)
  }

  @discardableResult
  open class func didReceiveNotificationExtensionRequest(
    _ request: UNNotificationRequest?, with content: UNMutableNotificationContent?
  ) -> UNMutableNotificationContent? {
    OneSignalMedia.attachAndWait(request, content, for: "OneSignalExtension")
  }

  /// Returns the content as it is.
  @discardableResult
  open class func serviceExtensionTimeWillExpireRequest(
    _ request: UNNotificationRequest?, with content: UNMutableNotificationContent?
  ) -> UNMutableNotificationContent? {
    content ?? request?.content.mutableCopy() as? UNMutableNotificationContent
  }
}
