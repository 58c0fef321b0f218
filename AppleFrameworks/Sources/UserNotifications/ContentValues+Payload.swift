import Groundwork

extension ContentValues {
  /// Reads the content of a payload, as iOS does.
  ///
  /// - Parameter payload: the parsed payload.
  package init(payload: [String: Any]) {
    userInfo = Dictionary(uniqueKeysWithValues: payload.map { (AnyHashable($0.key), $0.value) })
    guard let aps = payload["aps"] as? [String: Any] else { return }
    switch aps["alert"] {
    case let text as String: body = text
    case let alert as [String: Any]:
      title = Self.text("title", keyName: "title-loc-key", argumentsName: "title-loc-args", of: alert)
      subtitle = Self.text("subtitle", keyName: "subtitle-loc-key", argumentsName: "subtitle-loc-args", of: alert)
      body = Self.text("body", keyName: "loc-key", argumentsName: "loc-args", of: alert)
      launchImageName = alert["launch-image"] as? String ?? ""
      summaryArgument = alert["summary-arg"] as? String ?? ""
      summaryArgumentCount = (alert["summary-arg-count"] as? NSNumber)?.intValue ?? 0
    default: break
    }
    badge = aps["badge"] as? NSNumber
    sound = UNNotificationSound(payload: aps["sound"])
    categoryIdentifier = aps["category"] as? String ?? ""
    threadIdentifier = aps["thread-id"] as? String ?? ""
    targetContentIdentifier = aps["target-content-id"] as? String
    interruptionLevel = (aps["interruption-level"] as? String).flatMap(UNNotificationInterruptionLevel.init(name:)) ?? .active
    relevanceScore = (aps["relevance-score"] as? NSNumber)?.doubleValue ?? 0
    filterCriteria = aps["filter-criteria"] as? String
  }

  /// Returns a text of an alert: by its key if the bundle's strings have it, else as it was sent,
  /// else the key itself.
  private static func text(_ name: String, keyName: String, argumentsName: String, of alert: [String: Any]) -> String {
    let sent = alert[name] as? String
    guard let key = alert[keyName] as? String else { return sent ?? "" }
    let format = Bundle.main.localizedString(forKey: key, value: "\u{0}", table: nil)
    guard format != "\u{0}" else { return sent ?? key }
    let arguments = (alert[argumentsName] as? [Any] ?? []).map { "\($0)" }
    return format.filled(with: arguments)
  }
}

extension String {
  /// Replaces `%@` and `%1$@` by the arguments. Other conversions stay as they are: the arguments
  /// are strings, and a format that came from elsewhere must not read memory.
  package func filled(with arguments: [String]) -> String {
    var result = ""
    var next = 0
    var rest = self[...]
    while let percent = rest.firstIndex(of: "%") {
      result += rest[..<percent]
      let after = rest[rest.index(after: percent)...]
      let digits = after.prefix { $0.isASCII && $0.isNumber }
      let isNumbered = after.dropFirst(digits.count).hasPrefix("$@")
      if after.hasPrefix("@") {
        result += next < arguments.count ? arguments[next] : ""
        next += 1
        rest = after.dropFirst()
      } else if let number = Int(digits), isNumbered {
        result += number >= 1 && number <= arguments.count ? arguments[number - 1] : ""
        rest = after.dropFirst(digits.count + 2)
      } else if after.hasPrefix("%") {
        result += "%"
        rest = after.dropFirst()
      } else {
        result += "%"
        rest = after
      }
    }
    return result + rest
  }
}

extension UNNotificationInterruptionLevel {
  package var name: String {
    switch self {
    case .passive: "passive"
    case .active: "active"
    case .timeSensitive: "time-sensitive"
    case .critical: "critical"
    }
  }

  init?(name: String) {
    switch name {
    case "passive": self = .passive
    case "active": self = .active
    case "time-sensitive": self = .timeSensitive
    case "critical": self = .critical
    default: return nil
    }
  }
}
