import Groundwork

open class UNNotificationRequest: NSObject, NSCopying, @unchecked Sendable {
  open var identifier: String { storedIdentifier }
  open var content: UNNotificationContent { storedContent }
  open var trigger: UNNotificationTrigger? { storedTrigger }

  private let storedIdentifier: String
  private let storedContent: UNNotificationContent
  private let storedTrigger: UNNotificationTrigger?

  public init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
    (storedIdentifier, storedContent, storedTrigger) = (identifier, UNNotificationContent(content.values), trigger)
    super.init()
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    self
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? UNNotificationRequest else { return false }
    return identifier == other.identifier && content.isEqual(other.content)
  }

  open override var hash: Int { identifier.hashValue }
}

open class UNNotificationTrigger: NSObject, NSCopying, @unchecked Sendable {
  open var repeats: Bool { isRepeating }

  private let isRepeating: Bool

  package init(repeats: Bool) {
    isRepeating = repeats
    super.init()
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    self
  }
}

/// The trigger of a notification that a server has sent.
open class UNPushNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
  package init() {
    super.init(repeats: false)
  }
}

open class UNTimeIntervalNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
  public let timeInterval: TimeInterval
  let start: Date

  public init(timeInterval: TimeInterval, repeats: Bool) {
    // Apple's class raises an exception, too.
    precondition(timeInterval > 0, "time interval must be greater than 0")
    precondition(!repeats || timeInterval >= 60, "time interval must be at least 60 if repeating")
    (self.timeInterval, start) = (timeInterval, Date())
    super.init(repeats: repeats)
  }

  init(_ timeInterval: TimeInterval, repeats: Bool, since start: Date) {
    (self.timeInterval, self.start) = (timeInterval, start)
    super.init(repeats: repeats)
  }

  open func nextTriggerDate() -> Date? {
    let now = Date()
    let first = start + timeInterval
    guard repeats, first < now else { return first > now ? first : nil }
    let periods = (now.timeIntervalSince(start) / timeInterval).rounded(.down) + 1
    return start + periods * timeInterval
  }
}

open class UNCalendarNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
  public let dateComponents: DateComponents

  public init(dateMatching dateComponents: DateComponents, repeats: Bool) {
    self.dateComponents = dateComponents
    super.init(repeats: repeats)
  }

  open func nextTriggerDate() -> Date? {
    Calendar.current.nextDate(after: Date(), matching: dateComponents, matchingPolicy: .nextTime)
  }
}

open class UNNotification: NSObject, NSCopying, @unchecked Sendable {
  public let date: Date
  public let request: UNNotificationRequest

  package init(request: UNNotificationRequest, date: Date) {
    (self.request, self.date) = (request, date)
    super.init()
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    self
  }
}

open class UNNotificationResponse: NSObject, NSCopying, @unchecked Sendable {
  public let notification: UNNotification
  public let actionIdentifier: String

  package init(notification: UNNotification, actionIdentifier: String) {
    (self.notification, self.actionIdentifier) = (notification, actionIdentifier)
    super.init()
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    self
  }
}

open class UNTextInputNotificationResponse: UNNotificationResponse, @unchecked Sendable {
  public let userText: String

  package init(notification: UNNotification, actionIdentifier: String, userText: String) {
    self.userText = userText
    super.init(notification: notification, actionIdentifier: actionIdentifier)
  }
}

public let UNNotificationDefaultActionIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"
public let UNNotificationDismissActionIdentifier = "com.apple.UNNotificationDismissActionIdentifier"
