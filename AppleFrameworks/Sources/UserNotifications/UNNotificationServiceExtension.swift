import Groundwork

/// Receives a notification before it is shown, and may change its content.
open class UNNotificationServiceExtension: NSObject {
  public override init() {
    super.init()
  }

  /// Receives the notification. The handler must be called once, with the content to show.
  open func didReceive(_ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void) {
    contentHandler(request.content)
  }

  /// Called shortly before the time is over. The handler must be called at once.
  open func serviceExtensionTimeWillExpire() {}
}
