// Closes every descriptor, that of the frames included.
import Glibc
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    for descriptor in 3..<1_024 { close(Int32(descriptor)) }
    contentHandler(request.content)
  }
}
