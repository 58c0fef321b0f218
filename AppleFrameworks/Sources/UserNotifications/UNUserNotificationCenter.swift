import Groundwork

public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void)
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void)
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification
  ) async -> UNNotificationPresentationOptions
  func userNotificationCenter(_ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse) async
  func userNotificationCenter(_ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?)
}

extension UNUserNotificationCenterDelegate {
  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
  ) {
    completionHandler([])
  }

  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void
  ) {
    completionHandler()
  }

  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification
  ) async -> UNNotificationPresentationOptions { [] }

  public func userNotificationCenter(_ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse) async {}
  public func userNotificationCenter(_ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?) {}
}

/// The categories, and the delivered and pending notifications, of all processes of a run. Handlers are
/// called on a queue of the centre's own.
open class UNUserNotificationCenter: NSObject, @unchecked Sendable {
  private static let shared = UNUserNotificationCenter()
  private let lock = NSLock()
  private let queue = DispatchQueue(label: "attache.notification-centre")
  private let store = NotificationStore()
  /// The most reads that are remembered.
  private static let maximumReads = 64

  /// The results of the reads that no write has followed yet, oldest first.
  private var reads: [Set<UNNotificationCategory>] = []

  open weak var delegate: (any UNUserNotificationCenterDelegate)?
  open var supportsContentExtensions: Bool { true }

  open class func current() -> UNUserNotificationCenter {
    shared
  }

  // MARK: Categories

  /// Replaces all categories.
  open func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
    let name = lock.withLock {
      let present = store.categories
      store.write(categories)
      return nameOfLost(by: categories, from: present)
    }
    if let name {
      HostLink.note(.categoriesRace, "a write removed \(name), which another writer had added after this writer had read the categories")
    }
  }

  /// Returns the name of a category that another writer added after this writer's read, and that this
  /// write removes; nil if there is none.
  ///
  /// A write does not say which read it follows. The latest read is taken after which the write removes
  /// no category of another writer, so a writer that only reads, or reads twice, causes no finding.
  private func nameOfLost(by categories: Set<UNNotificationCategory>, from present: Set<UNNotificationCategory>) -> String? {
    guard !reads.isEmpty else { return nil }
    func lost(_ read: Set<UNNotificationCategory>) -> Set<UNNotificationCategory> {
      present.subtracting(read).subtracting(categories)
    }
    let index = reads.lastIndex { lost($0).isEmpty } ?? reads.count - 1
    return lost(reads.remove(at: index)).map(\.identifier).min()
  }

  open func getNotificationCategories(completionHandler: @escaping @Sendable (Set<UNNotificationCategory>) -> Void) {
    let categories = readCategories()
    queue.async { completionHandler(categories) }
  }

  open func notificationCategories() async -> Set<UNNotificationCategory> {
    readCategories()
  }

  private func readCategories() -> Set<UNNotificationCategory> {
    lock.withLock {
      let categories = store.categories
      reads.append(categories)
      if reads.count > Self.maximumReads { reads.removeFirst() }
      return categories
    }
  }

  // MARK: Delivered notifications

  open func getDeliveredNotifications(completionHandler: @escaping @Sendable ([UNNotification]) -> Void) {
    queue.async { [store] in completionHandler(store.deliveredNotifications) }
  }

  open func deliveredNotifications() async -> [UNNotification] {
    store.deliveredNotifications
  }

  open func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
    store.removeDelivered(identifiers)
  }

  open func removeAllDeliveredNotifications() {
    store.removeAllDelivered()
  }

  /// Records a notification as shown. The newest 100 are kept.
  ///
  /// - Parameters:
  ///   - payload: the payload that was sent.
  ///   - changes: what its extension has changed, as the host learns it, as JSON.
  package func deliver(_ identifier: String, payload: Data, changes: Data) {
    store.deliver(identifier, payload: payload, changes: changes)
  }

  // MARK: Pending notifications

  open func getPendingNotificationRequests(completionHandler: @escaping @Sendable ([UNNotificationRequest]) -> Void) {
    queue.async { [store] in completionHandler(store.pendingRequests) }
  }

  open func pendingNotificationRequests() async -> [UNNotificationRequest] {
    store.pendingRequests
  }

  open func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
    store.removePending(identifiers)
  }

  open func removeAllPendingNotificationRequests() {
    store.removeAllPending()
  }

  open func add(_ request: UNNotificationRequest, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil) {
    let error = schedule(request)
    queue.async { completionHandler?(error) }
  }

  open func add(_ request: UNNotificationRequest) async throws {
    if let error = schedule(request) { throw error }
  }

  private func schedule(_ request: UNNotificationRequest) -> UNError? {
    HostLink.note(.accepted, "a local notification was added: \(request.identifier)")
    guard request.trigger is UNTimeIntervalNotificationTrigger || request.trigger is UNCalendarNotificationTrigger else {
      store.add(request, at: nil)
      return nil
    }
    guard let date = request.trigger?.nextDate else { return UNError(.notificationInvalidNoDate, "the trigger has no next date") }
    store.add(request, at: date)
    return nil
  }

  // MARK: Badge and settings

  open func setBadgeCount(_ count: Int, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil) {
    let error = Self.error(badge: count)
    queue.async { completionHandler?(error) }
  }

  open func setBadgeCount(_ count: Int) async throws {
    if let error = Self.error(badge: count) { throw error }
  }

  private static func error(badge count: Int) -> UNError? {
    count >= 0 ? nil : UNError(.badgeInputInvalid, "a badge cannot be negative")
  }

  open func getNotificationSettings(completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void) {
    queue.async { completionHandler(UNNotificationSettings()) }
  }

  open func notificationSettings() async -> UNNotificationSettings {
    UNNotificationSettings()
  }

  open func requestAuthorization(
    options: UNAuthorizationOptions = [], completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) {
    queue.async { completionHandler(true, nil) }
  }

  open func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool {
    true
  }
}

extension NSString {
  /// Returns the text for a key, with its arguments.
  public class func localizedUserNotificationString(forKey key: String, arguments: [Any]?) -> String {
    Bundle.main.localizedString(forKey: key, value: nil, table: nil).filled(with: (arguments ?? []).map { "\($0)" })
  }
}
