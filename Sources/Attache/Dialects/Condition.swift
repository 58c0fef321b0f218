/// What a payload must have for a dialect, or a part of it, to be asked. A wrong type never holds.
indirect enum Condition: Sendable {
  enum Kind: String, Sendable, CaseIterable {
    case string, number, boolean, object, array
  }

  enum Scalar: Sendable {
    case text(String)
    case number(Double)
    case boolean(Bool)
  }

  /// There is something: neither null nor the empty string.
  case present(DialectPath)
  /// There is a value of this type; no empty string.
  case kind(DialectPath, Kind)
  /// There is one of these values.
  case equals(DialectPath, [Scalar])
  /// There is a string that starts with one of these.
  case starts(DialectPath, [String])
  /// There is nothing, null or the empty string.
  case absent(DialectPath)
  /// At least one of them holds.
  case any([Condition])
  /// None of them holds.
  case none([Condition])

  /// - Parameter members: what is known of the payload's members, for conditions that are bound to them.
  func holds(in payload: JSONElement, _ members: MemberIndex? = nil) -> Bool {
    switch self {
    case .present(let path): payload.contains(at: path, members, where: \.isPresent)
    case .kind(let path, let kind): payload.contains(at: path, members) { kind.fits($0) && $0.isPresent }
    case .equals(let path, let scalars): payload.contains(at: path, members) { value in scalars.contains { $0.equals(value) } }
    case .starts(let path, let prefixes):
      payload.contains(at: path, members) { value in
        value.text.map { text in prefixes.contains { text.utf8.starts(with: $0.utf8) } } ?? false
      }
    case .absent(let path): !payload.contains(at: path, members, where: \.isPresent)
    case .any(let conditions): conditions.contains { $0.holds(in: payload, members) }
    case .none(let conditions): !conditions.contains { $0.holds(in: payload, members) }
    }
  }

  /// The same for an engine that looks the first parts of the places up.
  func bound(to names: inout NameList) -> Condition {
    switch self {
    case .present(let path): return .present(path.bound(to: &names))
    case .kind(let path, let kind): return .kind(path.bound(to: &names), kind)
    case .equals(let path, let scalars): return .equals(path.bound(to: &names), scalars)
    case .starts(let path, let prefixes): return .starts(path.bound(to: &names), prefixes)
    case .absent(let path): return .absent(path.bound(to: &names))
    case .any(let conditions): return .any(conditions.map { $0.bound(to: &names) })
    case .none(let conditions): return .none(conditions.map { $0.bound(to: &names) })
    }
  }

  /// The members one of which a payload must have for this to hold; nil when it may hold with none of them.
  var members: [String]? {
    switch self {
    case .present(let path), .kind(let path, _), .equals(let path, _), .starts(let path, _): path.first.map { [$0] }
    case .absent, .none: nil
    case .any(let conditions):
      conditions.reduce([]) { members, condition in
        guard let members, let further = condition.members else { return nil }
        return members + further
      }
    }
  }
}

extension [Condition] {
  /// Whether all of them hold; none means that there is nothing to ask.
  func hold(in payload: JSONElement, _ members: MemberIndex? = nil) -> Bool {
    for condition in self where !condition.holds(in: payload, members) { return false }
    return true
  }
}

extension Condition.Kind {
  fileprivate func fits(_ value: JSONElement) -> Bool {
    switch self {
    case .string: value.isString
    case .number: value.isNumber
    case .boolean: value.isBoolean
    case .object: value.isObject
    case .array: value.isArray
    }
  }
}

extension Condition.Scalar {
  fileprivate func equals(_ value: JSONElement) -> Bool {
    switch self {
    case .text(let text): value.text.map { $0.utf8.elementsEqual(text.utf8) } ?? false
    case .number(let number): value.number == number
    case .boolean(let boolean): value.boolean == boolean
    }
  }
}
