import Groundwork

/// Identifies an assignment of user info.
final class UserInfoIdentity: Sendable {}

/// The values of a notification's content.
package struct ContentValues {
  package var attachments: [UNNotificationAttachment] = []
  package var badge: NSNumber?
  package var body = ""
  package var categoryIdentifier = ""
  package var launchImageName = ""
  package var sound: UNNotificationSound?
  package var subtitle = ""
  package var threadIdentifier = ""
  package var title = ""
  package var userInfo: [AnyHashable: Any] = [:] {
    didSet { userInfoIdentity = UserInfoIdentity() }
  }
  /// Changes with each assignment of the user info. Values of the same identity have equal user info,
  /// which need not be compared.
  private(set) var userInfoIdentity = UserInfoIdentity()
  package var summaryArgument = ""
  package var summaryArgumentCount = 0
  package var targetContentIdentifier: String?
  package var interruptionLevel = UNNotificationInterruptionLevel.active
  package var relevanceScore = 0.0
  package var filterCriteria: String?

  package init() {}
}

/// The content of a notification. It cannot be changed.
open class UNNotificationContent: NSObject, NSCopying, NSMutableCopying {
  package var values: ContentValues

  public override init() {
    values = ContentValues()
    super.init()
  }

  package init(_ values: ContentValues) {
    self.values = values
    super.init()
  }

  open var attachments: [UNNotificationAttachment] { values.attachments }
  open var badge: NSNumber? { values.badge }
  open var body: String { values.body }
  open var categoryIdentifier: String { values.categoryIdentifier }
  open var launchImageName: String { values.launchImageName }
  open var sound: UNNotificationSound? { values.sound }
  open var subtitle: String { values.subtitle }
  open var threadIdentifier: String { values.threadIdentifier }
  open var title: String { values.title }
  open var userInfo: [AnyHashable: Any] { values.userInfo }
  open var summaryArgument: String { values.summaryArgument }
  open var summaryArgumentCount: Int { values.summaryArgumentCount }
  open var targetContentIdentifier: String? { values.targetContentIdentifier }
  open var interruptionLevel: UNNotificationInterruptionLevel { values.interruptionLevel }
  open var relevanceScore: Double { values.relevanceScore }
  open var filterCriteria: String? { values.filterCriteria }

  /// Returns a copy of the same kind: callers cast the copy of mutable content both ways.
  open override func copy() -> Any {
    copy(with: nil)
  }

  open override func mutableCopy() -> Any {
    mutableCopy(with: nil)
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    UNNotificationContent(values)
  }

  open func mutableCopy(with zone: NSZone? = nil) -> Any {
    UNMutableNotificationContent(values)
  }

  /// Returns the content, updated by a communication or another provider. Here, it keeps its values.
  open func updating(from provider: any UNNotificationContentProviding) throws -> UNNotificationContent {
    HostLink.note(.accepted, "the content was updated from \(type(of: provider)): a communication notification")
    return UNMutableNotificationContent(values)
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? UNNotificationContent else { return false }
    return values.isEqual(other.values)
  }

  open override var hash: Int {
    var hasher = Hasher()
    hasher.combine(values.title)
    hasher.combine(values.body)
    return hasher.finalize()
  }
}

/// The content of a notification, as its extension changes it.
open class UNMutableNotificationContent: UNNotificationContent {
  public override init() {
    super.init()
  }

  package override init(_ values: ContentValues) {
    super.init(values)
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    UNMutableNotificationContent(values)
  }

  open override var attachments: [UNNotificationAttachment] {
    get { values.attachments }
    set { values.attachments = newValue }
  }
  open override var badge: NSNumber? {
    get { values.badge }
    set { values.badge = newValue }
  }
  open override var body: String {
    get { values.body }
    set { values.body = newValue }
  }
  open override var categoryIdentifier: String {
    get { values.categoryIdentifier }
    set { values.categoryIdentifier = newValue }
  }
  open override var launchImageName: String {
    get { values.launchImageName }
    set { values.launchImageName = newValue }
  }
  open override var sound: UNNotificationSound? {
    get { values.sound }
    set { values.sound = newValue }
  }
  open override var subtitle: String {
    get { values.subtitle }
    set { values.subtitle = newValue }
  }
  open override var threadIdentifier: String {
    get { values.threadIdentifier }
    set { values.threadIdentifier = newValue }
  }
  open override var title: String {
    get { values.title }
    set { values.title = newValue }
  }
  open override var userInfo: [AnyHashable: Any] {
    get { values.userInfo }
    set { values.userInfo = newValue }
  }
  open override var summaryArgument: String {
    get { values.summaryArgument }
    set { values.summaryArgument = newValue }
  }
  open override var summaryArgumentCount: Int {
    get { values.summaryArgumentCount }
    set { values.summaryArgumentCount = newValue }
  }
  open override var targetContentIdentifier: String? {
    get { values.targetContentIdentifier }
    set { values.targetContentIdentifier = newValue }
  }
  open override var interruptionLevel: UNNotificationInterruptionLevel {
    get { values.interruptionLevel }
    set { values.interruptionLevel = newValue }
  }
  open override var relevanceScore: Double {
    get { values.relevanceScore }
    set { values.relevanceScore = newValue }
  }
  open override var filterCriteria: String? {
    get { values.filterCriteria }
    set { values.filterCriteria = newValue }
  }
}

/// When a notification may interrupt. The order is Apple's.
public enum UNNotificationInterruptionLevel: UInt, Sendable {
  case passive = 0
  case active = 1
  case timeSensitive = 2
  case critical = 3
}

/// Something that updates the content of a notification, such as an intent.
public protocol UNNotificationContentProviding: NSObjectProtocol {}

open class UNNotificationAttributedMessageContext: NSObject, UNNotificationContentProviding {
  open class func context(withSendMessageIntent intent: NSObject, attributedContent: NSAttributedString) -> Self? {
    nil
  }
}
