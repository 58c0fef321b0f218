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
  /// There is a string that starts with one of these; schemes and types are the same in capitals.
  case starts(DialectPath, [String])
  /// There is nothing, null or the empty string.
  case absent(DialectPath)
  /// At least one of them holds.
  case any([Condition])
  /// None of them holds.
  case none([Condition])

  /// - Parameter heads: what the payload's places begin with, for conditions that are bound to
  ///   them.
  func holds(in payload: JSONElement, _ heads: FirstKeyMatches? = nil) -> Bool {
    switch self {
    case .present(let path): payload.contains(at: path, heads, where: \.isPresent)
    case .kind(let path, let kind): payload.contains(at: path, heads) { kind.fits($0) && $0.isPresent }
    case .equals(let path, let scalars): payload.contains(at: path, heads) { value in scalars.contains { $0.equals(value) } }
    case .starts(let path, let prefixes):
      payload.contains(at: path, heads) { value in prefixes.contains { value.starts(with: $0) } }
    case .absent(let path): !payload.contains(at: path, heads, where: \.isPresent)
    case .any(let conditions): conditions.contains { $0.holds(in: payload, heads) }
    case .none(let conditions): !conditions.contains { $0.holds(in: payload, heads) }
    }
  }

  /// The same for an engine that looks the first parts of the places up.
  func bound(to heads: FirstKeyTable) -> Condition {
    switch self {
    case .present(let path): return .present(path.bound(to: heads))
    case .kind(let path, let kind): return .kind(path.bound(to: heads), kind)
    case .equals(let path, let scalars): return .equals(path.bound(to: heads), scalars)
    case .starts(let path, let prefixes): return .starts(path.bound(to: heads), prefixes)
    case .absent(let path): return .absent(path.bound(to: heads))
    case .any(let conditions): return .any(conditions.map { $0.bound(to: heads) })
    case .none(let conditions): return .none(conditions.map { $0.bound(to: heads) })
    }
  }

  /// The places one of which must begin in a payload for this to hold; nil when it may hold with
  /// none of them.
  var places: [DialectPath]? {
    switch self {
    case .present(let path), .kind(let path, _), .equals(let path, _), .starts(let path, _): [path]
    case .absent, .none: nil
    case .any(let conditions):
      conditions.reduce([]) { places, condition in
        guard let places, let further = condition.places else { return nil }
        return places + further
      }
    }
  }
}

extension [Condition] {
  /// Whether all of them hold; none means that there is nothing to ask.
  func hold(in payload: JSONElement) -> Bool {
    for condition in self where !condition.holds(in: payload) { return false }
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
    case .text(let text): value.isText(text)
    case .number(let number): value.number == number
    case .boolean(let boolean): value.boolean == boolean
    }
  }
}
