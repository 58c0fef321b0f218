// Leaves the notification to OneSignal.
import OneSignalExtension
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  var contentHandler: ((UNNotificationContent) -> Void)?
  var receivedRequest: UNNotificationRequest!
  var bestAttemptContent: UNMutableNotificationContent?

  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    receivedRequest = request
    self.contentHandler = contentHandler
    bestAttemptContent = request.content.mutableCopy() as? UNMutableNotificationContent
    if let content = bestAttemptContent {
      OneSignalExtension.didReceiveNotificationExtensionRequest(receivedRequest, with: content, withContentHandler: self.contentHandler)
    }
  }

  override func serviceExtensionTimeWillExpire() {
    if let contentHandler = contentHandler, let content = bestAttemptContent {
      OneSignalExtension.serviceExtensionTimeWillExpireRequest(receivedRequest, with: content)
      contentHandler(content)
    }
  }
}
