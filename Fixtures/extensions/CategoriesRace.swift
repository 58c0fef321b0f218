// Adds two categories, each by reading and writing all.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let center = UNUserNotificationCenter.current()
    let group = DispatchGroup()
    for name in ["LIKE", "REPLY"] {
      group.enter()
      center.getNotificationCategories { categories in
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.02) {
          let category = UNNotificationCategory(identifier: name, actions: [], intentIdentifiers: [])
          center.setNotificationCategories(categories.union([category]))
          group.leave()
        }
      }
    }
    group.notify(queue: .global()) { contentHandler(request.content) }
  }
}
