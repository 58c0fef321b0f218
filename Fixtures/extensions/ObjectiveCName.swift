// Has a name for Objective-C, and members that it sees.
import Foundation
import UserNotifications

@objc(NotificationService)
@objcMembers class RichNotificationService: UNNotificationServiceExtension {
  @objc dynamic var handler: ((UNNotificationContent) -> Void)?
  @objc(theContent) var content: UNNotificationContent?

  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    handler = contentHandler
    content = request.content
    // The word @objc in a comment, and in a string, stays.
    let text = "@objc import Foundation"
    let better = request.content.mutableCopy() as! UNMutableNotificationContent
    better.threadIdentifier = "\(text.count)"
    contentHandler(better)
  }
}
