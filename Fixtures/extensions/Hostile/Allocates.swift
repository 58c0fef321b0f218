// Takes memory without end.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    var blocks: [[UInt8]] = []
    while true { blocks.append([UInt8](repeating: UInt8(blocks.count & 0xFF), count: 1 << 20)) }
  }
}
