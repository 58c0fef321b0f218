// Adds a category: reads all, adds one, writes all.
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let content = request.content.mutableCopy() as! UNMutableNotificationContent
    content.categoryIdentifier = "REPLY"
    let action = UNTextInputNotificationAction(
      identifier: "reply", title: "Reply", options: [], textInputButtonTitle: "Send", textInputPlaceholder: "Text")
    let category = UNNotificationCategory(identifier: "REPLY", actions: [action], intentIdentifiers: [], options: .customDismissAction)
    let center = UNUserNotificationCenter.current()
    center.getNotificationCategories { categories in
      center.setNotificationCategories(categories.union([category]))
      contentHandler(content)
    }
  }
}
