// Two service extensions; Info.plist names the one that runs.
import UserNotifications

class FirstService: UNNotificationServiceExtension {}

class SecondService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let content = request.content.mutableCopy() as! UNMutableNotificationContent
    content.subtitle = Bundle.main.object(forInfoDictionaryKey: "Greeting") as? String ?? "none"
    contentHandler(content)
  }
}
