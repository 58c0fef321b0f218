import UserNotifications

/// Adds as many bytes to its user info as the payload says.
class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let content = request.content.mutableCopy() as! UNMutableNotificationContent
    content.userInfo["more"] = String(repeating: "x", count: request.content.userInfo["count"] as? Int ?? 0)
    contentHandler(content)
  }
}
