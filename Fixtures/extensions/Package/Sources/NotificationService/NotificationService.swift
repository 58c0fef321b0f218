import Foundation
import Greetings
import UserNotifications
import os.log

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    os_log("received %{public}@", request.identifier)
    let content = request.content.mutableCopy() as! UNMutableNotificationContent
    content.title = greeting("Anna")
    let files = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)
    content.userInfo["caches"] = files[0].lastPathComponent
    contentHandler(content)
  }
}
