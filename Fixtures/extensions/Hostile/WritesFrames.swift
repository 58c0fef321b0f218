// Writes what is no frame to every descriptor.
import Glibc
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let bytes = [UInt8](repeating: 0xFF, count: 64)
    for descriptor in 3..<1_024 { _ = send(Int32(descriptor), bytes, bytes.count, 0x4000) }
    contentHandler(request.content)
  }
}
