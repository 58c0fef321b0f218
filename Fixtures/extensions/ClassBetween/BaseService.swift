import UserNotifications

open class BaseService: UNNotificationServiceExtension {
  open override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let content = request.content.mutableCopy() as! UNMutableNotificationContent
    better(content)
    contentHandler(content)
  }

  open func better(_ content: UNMutableNotificationContent) {}
}
