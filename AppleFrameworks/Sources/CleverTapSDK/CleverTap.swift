@_exported import Groundwork

public enum CleverTapLogLevel: Int32, Sendable {
  case off = -1
  case info = 0
  case debug = 1
}

/// A stand-in for CleverTap's SDK, which reports nothing.
open class CleverTap: NSObject {
  private static let shared = CleverTap()

  open class func sharedInstance() -> CleverTap? {
    HostLink.note(.standIn, "CleverTapSDK is a stand-in of attache's: it reports nothing")
    return shared
  }

  @discardableResult
  open class func autoIntegrate() -> CleverTap? {
    sharedInstance()
  }

  open class func setDebugLevel(_ level: Int32) {}

  open func recordNotificationViewedEvent(withData notificationData: Any) {}
  open func recordNotificationClickedEvent(withData notificationData: Any) {}
  open func recordEvent(_ event: String) {}
  open func recordEvent(_ event: String, withProps properties: [AnyHashable: Any]) {}
  open func onUserLogin(_ properties: [AnyHashable: Any]) {}
  open func profilePush(_ properties: [AnyHashable: Any]) {}
}
