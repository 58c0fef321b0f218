// Logs by both of Apple's interfaces.
import UserNotifications
import os.log
import OSLog

class NotificationService: UNNotificationServiceExtension {
  private let logger = Logger(subsystem: "com.example.app", category: "push")

  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    os_log("received %{public}@ with %d keys", log: .default, type: .info, request.identifier, request.content.userInfo.count)
    logger.error("title \(request.content.title, privacy: .public)")
    NSLog("body %@", request.content.body)
    print("printed")
    contentHandler(request.content)
  }
}
