import UserNotifications

/// Says what the notification centre has, and adds a category and a reminder.
class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    if request.content.userInfo["crash"] != nil { fatalError("as the payload asks") }
    let content = request.content.mutableCopy() as! UNMutableNotificationContent
    let centre = UNUserNotificationCenter.current()
    Task {
      // The first reminder is shown before the last notification is answered.
      while content.body == "three", await centre.pendingNotificationRequests().contains(where: { $0.identifier == "one" }) {
        try await Task.sleep(nanoseconds: 10_000_000)
      }
      let delivered = await centre.deliveredNotifications().map(\.request.content.body)
      let pending = await centre.pendingNotificationRequests().map(\.content.title)
      var categories = await centre.notificationCategories()
      let names = categories.flatMap(\.actions).map { ($0 as? UNTextInputNotificationAction)?.textInputPlaceholder ?? $0.title }
      let answer = UNTextInputNotificationAction(
        identifier: "answer", title: "Answer", textInputButtonTitle: "Send", textInputPlaceholder: "to \(content.body)")
      categories.insert(UNNotificationCategory(identifier: content.body, actions: [answer], intentIdentifiers: []))
      centre.setNotificationCategories(categories)
      let reminder = UNMutableNotificationContent()
      reminder.title = "Reminder of \(content.body)"
      let trigger = UNTimeIntervalNotificationTrigger(timeInterval: content.body == "one" ? 1 : 3_600, repeats: false)
      try await centre.add(UNNotificationRequest(identifier: content.body, content: reminder, trigger: trigger))
      content.title = "\(delivered.sorted()) \(pending.sorted()) \(names.sorted())"
      contentHandler(content)
    }
  }
}
