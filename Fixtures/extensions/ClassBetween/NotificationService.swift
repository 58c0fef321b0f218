// The principal class inherits from a class of the app's own.
import UserNotifications

class NotificationService: BaseService {
  override func better(_ content: UNMutableNotificationContent) {
    content.subtitle = "from the app"
  }
}
