// Has an initialiser of its own.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  private let start: Date

  override init() {
    start = Date()
    super.init()
  }

  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let content = UNMutableNotificationContent()
    content.title = request.content.title.isEmpty ? "News" : request.content.title
    content.body = request.content.body
    content.userInfo = request.content.userInfo
    content.badge = 3
    content.sound = UNNotificationSound(named: UNNotificationSoundName("bell.caf"))
    content.categoryIdentifier = start < Date() ? "NEWS" : "OLD"
    content.interruptionLevel = .timeSensitive
    content.relevanceScore = 0.5
    contentHandler(content)
  }
}
