import Groundwork

extension ContentValues {
  func isEqual(_ other: ContentValues) -> Bool {
    changes(from: other).isEmpty && attachments.map(\.identifier) == other.attachments.map(\.identifier)
  }

  /// Returns the members that differ from `before`, by the names that frames use; null for a value
  /// that was removed. Members of user info are in the object `userInfo`.
  package func changes(from before: ContentValues) -> [String: Any] {
    var changes: [String: Any] = [:]
    func compare<Value: Equatable>(_ name: String, _ value: KeyPath<ContentValues, Value>, _ json: (Value) -> Any?) {
      if self[keyPath: value] != before[keyPath: value] { changes[name] = json(self[keyPath: value]) ?? NSNull() }
    }
    for (name, text) in [
      ("title", \ContentValues.title), ("subtitle", \.subtitle), ("body", \.body), ("category", \.categoryIdentifier),
      ("thread-id", \.threadIdentifier), ("launch-image", \.launchImageName), ("summary-arg", \.summaryArgument),
    ] { compare(name, text) { $0.isEmpty ? nil : $0 } }
    compare("badge", \.badge) { $0 }
    compare("sound", \.sound) { $0?.payload }
    compare("summary-arg-count", \.summaryArgumentCount) { $0 }
    compare("target-content-id", \.targetContentIdentifier) { $0 }
    compare("filter-criteria", \.filterCriteria) { $0 }
    compare("interruption-level", \.interruptionLevel) { $0.name }
    compare("relevance-score", \.relevanceScore) { $0.isFinite ? min(max($0, 0), 1) : nil }
    let userInfo = userInfoIdentity === before.userInfoIdentity ? [:] : userInfoChanges(from: before.userInfo)
    if !userInfo.isEmpty { changes["userInfo"] = userInfo }
    return changes
  }

  private func userInfoChanges(from before: [AnyHashable: Any]) -> [String: Any] {
    var changes: [String: Any] = [:]
    for (key, value) in userInfo {
      let old = before[key]
      guard old.map({ !Self.areEqual($0, value) }) ?? true else { continue }
      guard let name = key as? String else {
        HostLink.note(.unserialisable, "userInfo[\(key)]: the key is not a String")
        continue
      }
      guard name != "aps" else {
        HostLink.note(.accepted, "a change of userInfo[\"aps\"] does not show on a phone")
        continue
      }
      if let json = Self.json(value) {
        changes[name] = json
      } else {
        HostLink.note(.unserialisable, "userInfo[\"\(name)\"] is a \(type(of: value)), which JSON cannot hold")
      }
    }
    for case let name as String in before.keys where userInfo[name] == nil && name != "aps" { changes[name] = NSNull() }
    return changes
  }

  private static func areEqual(_ left: Any, _ right: Any) -> Bool {
    ([left] as NSArray).isEqual(to: [right])
  }

  /// Returns the value if JSON can hold it.
  private static func json(_ value: Any) -> Any? {
    JSONSerialization.isValidJSONObject([value]) ? value : nil
  }
}
