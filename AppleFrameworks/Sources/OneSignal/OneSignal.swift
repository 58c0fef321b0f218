@_exported import OneSignalExtension

public enum ONE_S_LOG_LEVEL: UInt, Sendable {
  case LL_NONE = 0
  case LL_FATAL = 1
  case LL_ERROR = 2
  case LL_WARN = 3
  case LL_INFO = 4
  case LL_DEBUG = 5
  case LL_VERBOSE = 6
}

/// A stand-in for OneSignal's class. It attaches what the payload names, and reports nothing.
open class OneSignal: NSObject {
  @discardableResult
  open class func didReceiveNotificationExtensionRequest(
    _ request: UNNotificationRequest?, with content: UNMutableNotificationContent?,
    withContentHandler contentHandler: ((UNNotificationContent) -> Void)?
  ) -> UNMutableNotificationContent? {
    OneSignalMedia.attach(request, content, for: "OneSignal", contentHandler)
  }

  @discardableResult
  open class func didReceiveNotificationExtensionRequest(
    _ request: UNNotificationRequest?, with content: UNMutableNotificationContent?
  ) -> UNMutableNotificationContent? {
    OneSignalMedia.attachAndWait(request, content, for: "OneSignal")
  }

  /// Returns the content as it is.
  @discardableResult
  open class func serviceExtensionTimeWillExpireRequest(
    _ request: UNNotificationRequest?, with content: UNMutableNotificationContent?
  ) -> UNMutableNotificationContent? {
    content ?? request?.content.mutableCopy() as? UNMutableNotificationContent
  }

  /// Does nothing.
  open class func setLogLevel(_ logLevel: ONE_S_LOG_LEVEL, visualLevel: ONE_S_LOG_LEVEL) {}
}
