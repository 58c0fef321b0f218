// Looks at the categories, reads them again, adds one and writes all: one writer, who races with nobody.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let center = UNUserNotificationCenter.current()
    let category = UNNotificationCategory(identifier: "NEWS-\(request.identifier)", actions: [], intentIdentifiers: [])
    center.getNotificationCategories { known in
      guard !known.contains(category) else { return contentHandler(request.content) }
      center.getNotificationCategories { categories in
        center.setNotificationCategories(categories.union([category]))
        contentHandler(request.content)
      }
    }
  }
}
