import Groundwork

/// What all processes of a run share of the notification centre: the categories, and the delivered and
/// pending notifications. Each is a file in a folder that the host has made for the run.
///
/// The processes only replace and remove whole files, so they need no lock.
struct NotificationStore {
  /// The most notifications that the centre shows.
  static let maximumDelivered = 100

  private let folder: URL
  private var delivered: URL { folder.appendingPathComponent("delivered") }
  private var pending: URL { folder.appendingPathComponent("pending") }
  private var categoriesFile: URL { folder.appendingPathComponent("categories") }

  init() {
    let path = ProcessInfo.processInfo.environment["ATTACHE_CENTRE"]
    folder = path.map { URL(fileURLWithPath: $0, isDirectory: true) } ?? PhoneFolders.home.appendingPathComponent("Library/Centre")
    for folder in [delivered, pending] { try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
  }

  var categories: Set<UNNotificationCategory> {
    let json = (try? Data(contentsOf: categoriesFile)).flatMap { try? JSONSerialization.jsonObject(with: $0) } as? [[String: Any]]
    return Set((json ?? []).compactMap(UNNotificationCategory.init(json:)))
  }

  func write(_ categories: Set<UNNotificationCategory>) {
    write(categories.map(\.json), to: categoriesFile)
  }

  // MARK: Notifications

  /// Records a notification as shown, in the place of an earlier one with its identifier.
  func deliver(_ request: UNNotificationRequest, at date: Date = Date()) {
    write(request.json(date), to: file(request.identifier, in: delivered))
  }

  /// Removes all but the newest delivered notifications.
  func prune() {
    guard names(in: delivered).count > Self.maximumDelivered else { return }
    let old = notifications(in: delivered).dropLast(Self.maximumDelivered)
    remove(old.map(\.request.identifier), pending: false)
  }

  /// The delivered notifications, the newest last.
  var deliveredNotifications: [UNNotification] {
    fire()
    return notifications(in: delivered).suffix(Self.maximumDelivered)
  }

  /// Plans a notification, in the place of an earlier one with its identifier.
  func plan(_ request: UNNotificationRequest, at date: Date) {
    write(request.json(date), to: file(request.identifier, in: pending))
  }

  /// The notifications whose time has not come, by their time.
  var pendingRequests: [UNNotificationRequest] {
    fire()
    return notifications(in: pending).map(\.request)
  }

  /// - Parameter pending: whether pending notifications are meant, or delivered ones.
  func remove(_ identifiers: [String], pending isPending: Bool) {
    for identifier in identifiers { try? FileManager.default.removeItem(at: file(identifier, in: isPending ? pending : delivered)) }
  }

  func removeAll(pending isPending: Bool) {
    let folder = isPending ? pending : delivered
    for name in names(in: folder) { try? FileManager.default.removeItem(at: folder.appendingPathComponent(name)) }
  }

  /// Delivers the pending notifications whose time has come. Nobody sees that it happens now.
  private func fire() {
    for notification in notifications(in: pending) where notification.date <= Date() {
      let request = notification.request
      deliver(request, at: notification.date)
      if let next = request.trigger?.nextDate, request.trigger?.repeats == true {
        plan(request, at: next)
      } else {
        remove([request.identifier], pending: true)
      }
    }
  }

  private func notifications(in folder: URL) -> [UNNotification] {
    names(in: folder).compactMap { name in
      let data = try? Data(contentsOf: folder.appendingPathComponent(name))
      let json = data.flatMap { try? JSONSerialization.jsonObject(with: $0) } as? [String: Any]
      return json.flatMap(UNNotification.init(json:))
    }.sorted { $0.date < $1.date }
  }

  private func names(in folder: URL) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { $0.hasPrefix("_") }
  }

  /// Returns a notification's file. Its name is the identifier, as far as a file's name can hold it.
  private func file(_ identifier: String, in folder: URL) -> URL {
    let name = identifier.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let hash = identifier.utf8.reduce(into: UInt64(0)) { $0 = $0 &* 31 &+ UInt64($1) }
    return folder.appendingPathComponent("_" + (name.utf8.count <= 200 ? name : "\(name.prefix(150))\(hash)"))
  }

  private func write(_ json: Any, to file: URL) {
    guard let data = try? JSONSerialization.data(withJSONObject: json) else { return }
    try? data.write(to: file, options: .atomic)
  }
}

extension UNNotification {
  fileprivate convenience init?(json: [String: Any]) {
    guard let identifier = json["identifier"] as? String, let date = json["date"] as? Double, let content = json["content"] as? [String: Any]
    else { return nil }
    let trigger = (json["trigger"] as? [String: Any]).flatMap(UNNotificationTrigger.read)
    let values = UNNotificationContent(ContentValues(json: content))
    self.init(
      request: UNNotificationRequest(identifier: identifier, content: values, trigger: trigger), date: Date(timeIntervalSince1970: date))
  }
}

extension UNNotificationRequest {
  fileprivate func json(_ date: Date) -> [String: Any] {
    var json: [String: Any] = ["identifier": identifier, "date": date.timeIntervalSince1970, "content": content.values.json]
    if let trigger { json["trigger"] = trigger.json }
    return json
  }
}

extension UNNotificationTrigger {
  /// When the notification is shown next; nil if a date is of no matter to the trigger.
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
  /// The members of the alert among the names of changes.
  private static let alertNames = ["title", "subtitle", "body", "launch-image", "summary-arg", "summary-arg-count"]

  /// The content without its attachments.
  fileprivate var json: [String: Any] {
    var empty = ContentValues()
    empty.userInfo = userInfo
    var aps = changes(from: empty)
    var alert: [String: Any] = [:]
    for name in Self.alertNames { alert[name] = aps.removeValue(forKey: name) }
    aps["alert"] = alert
    let members = userInfo.compactMap { key, value in (key as? String).map { ($0, value) } }
    return ["aps": aps, "userInfo": Dictionary(uniqueKeysWithValues: members.filter { JSONSerialization.isValidJSONObject([$0.1]) })]
  }

  fileprivate init(json: [String: Any]) {
    self.init(payload: ["aps": json["aps"] ?? [:]])
    userInfo = json["userInfo"] as? [String: Any] ?? [:]
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
