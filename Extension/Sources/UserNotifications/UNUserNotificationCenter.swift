import Groundwork

public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void)
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void)
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

  public func userNotificationCenter(_ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?) {}
}

/// The categories, and the delivered and pending notifications, of this process. Handlers are called
/// on a queue of the centre's own.
open class UNUserNotificationCenter: NSObject, @unchecked Sendable {
  private struct State {
    var categories: Set<UNNotificationCategory> = []
    /// How often the categories were read since they were last written.
    var reads = 0
    var delivered: [UNNotification] = []
    var pending: [String: (request: UNNotificationRequest, timer: any DispatchSourceTimer)] = [:]
    var badge = 0
  }

  private static let shared = UNUserNotificationCenter()
  private let lock = NSLock()
  private let queue = DispatchQueue(label: "attache.notification-centre")
  private var state = State()

  open weak var delegate: (any UNUserNotificationCenterDelegate)?
  open var supportsContentExtensions: Bool { true }

  open class func current() -> UNUserNotificationCenter {
    shared
  }

  private func read<Value: Sendable>(_ value: (inout State) -> Value, _ handler: @escaping @Sendable (Value) -> Void) {
    let value = lock.withLock { value(&state) }
    queue.async { handler(value) }
  }

  private func read<Value: Sendable>(_ value: (inout State) -> Value) async -> Value {
    withState(value)
  }

  private func withState<Value>(_ body: (inout State) -> Value) -> Value {
    lock.withLock { body(&state) }
  }

  // MARK: Categories

  /// Replaces all categories.
  open func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
    let isRace = withState { state in
      defer { (state.categories, state.reads) = (categories, 0) }
      return state.reads > 1
    }
    if isRace {
      HostLink.note(.categoriesRace, "the categories were read more than once before they were written, so one writer undoes the other")
    }
  }

  open func getNotificationCategories(completionHandler: @escaping @Sendable (Set<UNNotificationCategory>) -> Void) {
    read(Self.readCategories, completionHandler)
  }

  open func notificationCategories() async -> Set<UNNotificationCategory> {
    await read(Self.readCategories)
  }

  private static func readCategories(_ state: inout State) -> Set<UNNotificationCategory> {
    state.reads += 1
    return state.categories
  }

  // MARK: Delivered notifications

  open func getDeliveredNotifications(completionHandler: @escaping @Sendable ([UNNotification]) -> Void) {
    read(\.delivered, completionHandler)
  }

  open func deliveredNotifications() async -> [UNNotification] {
    await read(\.delivered)
  }

  open func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
    withState { $0.delivered.removeAll { identifiers.contains($0.request.identifier) } }
  }

  open func removeAllDeliveredNotifications() {
    withState { $0.delivered = [] }
  }

  /// Records a notification as shown. The newest 100 are kept.
  package func deliver(_ request: UNNotificationRequest) {
    withState { state in
      state.delivered.removeAll { $0.request.identifier == request.identifier }
      state.delivered.append(UNNotification(request: request, date: Date()))
      if state.delivered.count > 100 { state.delivered.removeFirst() }
    }
  }

  // MARK: Pending notifications

  open func getPendingNotificationRequests(completionHandler: @escaping @Sendable ([UNNotificationRequest]) -> Void) {
    read({ $0.pending.values.map(\.request) }, completionHandler)
  }

  open func pendingNotificationRequests() async -> [UNNotificationRequest] {
    await read { $0.pending.values.map(\.request) }
  }

  open func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
    withState { state in
      for identifier in identifiers { state.pending.removeValue(forKey: identifier)?.timer.cancel() }
    }
  }

  open func removeAllPendingNotificationRequests() {
    withState { state in
      for pending in state.pending.values { pending.timer.cancel() }
      state.pending = [:]
    }
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
    let date: Date?
    switch request.trigger {
    case let trigger as UNTimeIntervalNotificationTrigger: date = trigger.nextTriggerDate()
    case let trigger as UNCalendarNotificationTrigger: date = trigger.nextTriggerDate()
    default:
      deliver(request)
      return nil
    }
    guard let date else { return UNError(.notificationInvalidNoDate, "the trigger has no next date") }
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + max(date.timeIntervalSinceNow, 0))
    timer.setEventHandler { [weak self] in self?.fire(request) }
    let old = withState { $0.pending.updateValue((request, timer), forKey: request.identifier) }
    old?.timer.cancel()
    timer.resume()
    return nil
  }

  private func fire(_ request: UNNotificationRequest) {
    withState { $0.pending.removeValue(forKey: request.identifier) }?.timer.cancel()
    deliver(request)
    if request.trigger?.repeats == true { _ = schedule(request) }
  }

  // MARK: Badge and settings

  open func setBadgeCount(_ count: Int, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil) {
    let error = store(badge: count)
    queue.async { completionHandler?(error) }
  }

  open func setBadgeCount(_ count: Int) async throws {
    if let error = store(badge: count) { throw error }
  }

  private func store(badge count: Int) -> UNError? {
    guard count >= 0 else { return UNError(.badgeInputInvalid, "a badge cannot be negative") }
    withState { $0.badge = count }
    return nil
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
