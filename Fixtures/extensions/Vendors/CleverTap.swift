// Inherits from CleverTap's extension, and imports nothing of Apple's.
import CleverTapSDK
import CTNotificationService

class NotificationService: CTNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    CleverTap.setDebugLevel(CleverTapLogLevel.debug.rawValue)
    CleverTap.sharedInstance()?.recordNotificationViewedEvent(withData: request.content.userInfo)
    super.didReceive(request, withContentHandler: contentHandler)
  }
}
