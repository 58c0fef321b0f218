import Groundwork

/// What all processes of a run share of the notification centre: the categories, and the delivered and
/// pending notifications. They are files in a folder that the host has made for the run.
///
/// The processes only replace and remove whole files, and append whole records, so they need no lock.
final class NotificationStore: @unchecked Sendable {
  private let folder: URL
  private let delivered: DeliveredLog
  private var pending: URL { folder.appendingPathComponent("pending") }
  private var categoriesFile: URL { folder.appendingPathComponent("categories") }

  init() {
    let path = ProcessInfo.processInfo.environment["ATTACHE_CENTRE"]
    folder = path.map { URL(fileURLWithPath: $0, isDirectory: true) } ?? PhoneFolders.home.appendingPathComponent("Library/Centre")
    delivered = DeliveredLog(folder.appendingPathComponent("delivered").path)
    try? FileManager.default.createDirectory(at: pending, withIntermediateDirectories: true)
  }

  var categories: Set<UNNotificationCategory> {
    let json = (try? Data(contentsOf: categoriesFile)).flatMap { try? JSONSerialization.jsonObject(with: $0) } as? [[String: Any]]
    return Set((json ?? []).compactMap(UNNotificationCategory.init(json:)))
  }

  func write(_ categories: Set<UNNotificationCategory>) {
    write(categories.map(\.json), to: categoriesFile)
  }

  // MARK: Delivered notifications

  /// Records a notification as shown, in the place of an earlier one with its identifier.
  ///
  /// - Parameters:
  ///   - payload: the payload that was sent.
  ///   - changes: what was changed of its content, as the host learns it, as JSON.
  func deliver(_ identifier: String, payload: Data, changes: Data, at date: Date = Date()) {
    let event: [String: Any] = ["identifier": identifier, "date": date.timeIntervalSince1970]
    delivered.append(event, ["payload": payload, "changes": changes])
  }

  private func deliver(_ request: UNNotificationRequest, at date: Date) {
    let payload = (try? JSONSerialization.data(withJSONObject: request.content.values.payload)) ?? Data("{}".utf8)
    deliver(request.identifier, payload: payload, changes: Data("{}".utf8), at: date)
  }

  func removeDelivered(_ identifiers: [String]) {
    delivered.append(["removed": identifiers])
  }

  func removeAllDelivered() {
    delivered.append(["all": true])
  }

  /// The newest delivered notifications, the newest last.
  var deliveredNotifications: [UNNotification] {
    fire()
    return delivered.notifications
  }

  // MARK: Pending notifications

  /// Plans a notification, in the place of an earlier one with its identifier.
  ///
  /// - Parameter date: when it is shown; nil for now.
  func add(_ request: UNNotificationRequest, at date: Date?) {
    guard let date else { return deliver(request, at: Date()) }
    var json: [String: Any] = [
      "identifier": request.identifier, "date": date.timeIntervalSince1970, "content": request.content.values.payload,
    ]
    json["trigger"] = request.trigger?.json
    write(json, to: file(of: request.identifier))
  }

  /// The notifications whose time has not come, by their time.
  var pendingRequests: [UNNotificationRequest] {
    fire()
    return pendingNotifications.map(\.request)
  }

  func removePending(_ identifiers: [String]) {
    for identifier in identifiers { try? FileManager.default.removeItem(at: file(of: identifier)) }
  }

  func removeAllPending() {
    removePending(pendingNotifications.map(\.request.identifier))
  }

  /// Delivers the pending notifications that are due. It runs before each read, so nobody can see the
  /// delay.
  private func fire() {
    for notification in pendingNotifications where notification.date <= Date() {
      let request = notification.request
      deliver(request, at: notification.date)
      if request.trigger?.repeats == true, let next = request.trigger?.nextDate {
        add(request, at: next)
      } else {
        removePending([request.identifier])
      }
    }
  }

  private var pendingNotifications: [UNNotification] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: pending.path)) ?? []
    return names.filter { $0.hasPrefix("_") }.compactMap { name in
      let data = try? Data(contentsOf: pending.appendingPathComponent(name))
      guard let json = data.flatMap({ try? JSONSerialization.jsonObject(with: $0) }) as? [String: Any],
        let identifier = json["identifier"] as? String, let date = json["date"] as? Double
      else { return nil }
      let content = UNNotificationContent(ContentValues(payload: json["content"] as? [String: Any] ?? [:]))
      let trigger = (json["trigger"] as? [String: Any]).map(UNNotificationTrigger.read)
      return UNNotification(
        request: UNNotificationRequest(identifier: identifier, content: content, trigger: trigger), date: Date(timeIntervalSince1970: date))
    }.sorted { $0.date < $1.date }
  }

  /// Returns a notification's file. Its name is the identifier, as far as a file's name can hold it.
  private func file(of identifier: String) -> URL {
    let name = identifier.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let hash = identifier.utf8.reduce(into: UInt64(0)) { $0 = $0 &* 31 &+ UInt64($1) }
    return pending.appendingPathComponent("_" + (name.utf8.count <= 200 ? name : "\(name.prefix(150))\(hash)"))
  }

  /// Replaces a file. It need not outlive the machine, so it is not synced.
  private func write(_ json: Any, to file: URL) {
    let new = folder.appendingPathComponent(UUID().uuidString)
    guard let data = try? JSONSerialization.data(withJSONObject: json), (try? data.write(to: new)) != nil else { return }
    rename(new.path, file.path)
  }
}

extension UNNotificationTrigger {
  /// When the notification is shown next; nil if the trigger has no date.
  var nextDate: Date? {
    switch self {
    case let trigger as UNTimeIntervalNotificationTrigger: trigger.nextTriggerDate()
    case let trigger as UNCalendarNotificationTrigger: trigger.nextTriggerDate()
    default: nil
    }
  }

  fileprivate var json: [String: Any] {
    switch self {
    case let trigger as UNTimeIntervalNotificationTrigger:
      return ["interval": trigger.timeInterval, "start": trigger.start.timeIntervalSince1970, "repeats": repeats]
    case let trigger as UNCalendarNotificationTrigger:
      let components = (try? JSONEncoder().encode(trigger.dateComponents)).map { String(decoding: $0, as: UTF8.self) }
      return ["components": components ?? "{}", "repeats": repeats]
    default: return [:]
    }
  }

  fileprivate static func read(_ json: [String: Any]) -> UNNotificationTrigger {
    let repeats = (json["repeats"] as? NSNumber)?.boolValue ?? false
    if let interval = json["interval"] as? Double, let start = json["start"] as? Double, interval > 0 {
      return UNTimeIntervalNotificationTrigger(interval, repeats: repeats, since: Date(timeIntervalSince1970: start))
    }
    if let text = json["components"] as? String {
      let components = try? JSONDecoder().decode(DateComponents.self, from: Data(text.utf8))
      return UNCalendarNotificationTrigger(dateMatching: components ?? DateComponents(), repeats: repeats)
    }
    return UNPushNotificationTrigger()
  }
}

extension ContentValues {
  /// A payload that shows this content, without its attachments.
  fileprivate var payload: [String: Any] {
    var empty = ContentValues()
    empty.userInfo = userInfo
    let members = userInfo.compactMap { key, value in (key as? String).map { ($0, value) } }
    var payload = Dictionary(uniqueKeysWithValues: members.filter { JSONSerialization.isValidJSONObject([$0.1]) })
    payload["aps"] = nil
    return payload.applying(changes(from: empty))
  }
}

extension [String: Any] {
  /// Returns a payload with the changes of its content.
  func applying(_ changes: [String: Any]) -> [String: Any] {
    var payload = self
    var aps = payload["aps"] as? [String: Any] ?? [:]
    var alert = aps["alert"] as? [String: Any] ?? (aps["alert"] as? String).map { ["body": $0] } ?? [:]
    for (name, value) in changes {
      switch name {
      case "userInfo": payload.merge(value as? [String: Any] ?? [:]) { _, new in new }
      case "title", "subtitle", "body", "launch-image", "summary-arg", "summary-arg-count":
        alert[name] = value
        alert[name == "body" ? "loc-key" : name + "-loc-key"] = nil
      default: aps[name] = value
      }
    }
    aps["alert"] = alert.filter { !($0.value is NSNull) }
    payload["aps"] = aps.filter { !($0.value is NSNull) }
    return payload.filter { !($0.value is NSNull) }
  }
}

extension UNNotificationCategory {
  fileprivate var json: [String: Any] {
    [
      "identifier": identifier, "actions": actions.map(\.json), "intents": intentIdentifiers, "options": options.rawValue,
      "placeholder": hiddenPreviewsBodyPlaceholder, "summary": categorySummaryFormat,
    ]
  }

  fileprivate convenience init?(json: [String: Any]) {
    guard let identifier = json["identifier"] as? String else { return nil }
    self.init(
      identifier: identifier, actions: (json["actions"] as? [[String: Any]] ?? []).compactMap(UNNotificationAction.read),
      intentIdentifiers: json["intents"] as? [String] ?? [], hiddenPreviewsBodyPlaceholder: json["placeholder"] as? String,
      categorySummaryFormat: json["summary"] as? String,
      options: UNNotificationCategoryOptions(rawValue: (json["options"] as? NSNumber)?.uintValue ?? 0))
  }
}

extension UNNotificationAction {
  fileprivate var json: [String: Any] {
    var json: [String: Any] = ["identifier": identifier, "title": title, "options": options.rawValue]
    if let icon { json[icon.isSystem ? "systemIcon" : "icon"] = icon.name }
    if let text = self as? UNTextInputNotificationAction {
      (json["button"], json["placeholder"]) = (text.textInputButtonTitle, text.textInputPlaceholder)
    }
    return json
  }

  fileprivate static func read(_ json: [String: Any]) -> UNNotificationAction? {
    guard let identifier = json["identifier"] as? String, let title = json["title"] as? String else { return nil }
    let options = UNNotificationActionOptions(rawValue: (json["options"] as? NSNumber)?.uintValue ?? 0)
    let icon =
      (json["icon"] as? String).map { UNNotificationActionIcon(templateImageName: $0) }
      ?? (json["systemIcon"] as? String).map { UNNotificationActionIcon(systemImageName: $0) }
    guard let button = json["button"] as? String, let placeholder = json["placeholder"] as? String else {
      return UNNotificationAction(identifier: identifier, title: title, options: options, icon: icon)
    }
    return UNTextInputNotificationAction(
      identifier: identifier, title: title, options: options, icon: icon, textInputButtonTitle: button, textInputPlaceholder: placeholder)
  }
}
