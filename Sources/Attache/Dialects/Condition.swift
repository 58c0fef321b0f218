/// A test that a payload must pass before a dialect, or a part of it, applies. A value of the wrong
/// type never passes.
indirect enum Condition: Hashable, Sendable {
  enum Kind: String, Sendable, CaseIterable {
    case string, number, boolean, object, array
  }

  enum Scalar: Hashable, Sendable {
    case text(String)
    case number(Double)
    case boolean(Bool)
  }

  /// The value exists and is neither null nor the empty string.
  case present(DialectPath)
  /// The value has this type and is not the empty string.
  case kind(DialectPath, Kind)
  /// The value equals one of these.
  case equals(DialectPath, [Scalar])
  /// The value is a string that starts with one of these. Schemes and types match without regard to
  /// case.
  case starts(DialectPath, [String])
  /// The value is missing, null or the empty string.
  case absent(DialectPath)
  /// At least one of the conditions holds.
  case any([Condition])
  /// None of the conditions holds.
  case none([Condition])

  /// Returns whether the condition holds for a payload.
  ///
  /// - Parameter heads: the first keys found in this payload, for conditions that are bound to an
  ///   engine.
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

  /// Returns whether the condition can hold with a text at a path. Only conditions on this path can
  /// exclude it.
  func admits(_ text: UntrustedText, at place: DialectPath) -> Bool {
    switch self {
    case .present(let path), .kind(let path, .string): path.parts != place.parts || !text.isEmpty
    case .kind(let path, _), .absent(let path): path.parts != place.parts
    case .equals(let path, let scalars): path.parts != place.parts || scalars.contains { $0.equals(text) }
    case .starts(let path, let prefixes): path.parts != place.parts || prefixes.contains { text.starts(with: $0) }
    case .any(let conditions): conditions.contains { $0.admits(text, at: place) }
    case .none(let conditions): conditions.allSatisfy { !$0.concerns(place) || !$0.admits(text, at: place) }
    }
  }

  /// Returns whether the condition is one on the value at a path alone.
  private func concerns(_ place: DialectPath) -> Bool {
    switch self {
    case .present(let path), .kind(let path, _), .equals(let path, _), .starts(let path, _), .absent(let path): path.parts == place.parts
    case .any(let conditions), .none(let conditions): conditions.allSatisfy { $0.concerns(place) }
    }
  }

  /// Returns the same condition with its paths bound to an engine's table of first keys.
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

  /// The paths of which the payload must contain at least one first key for this condition to hold;
  /// nil if the condition can hold without any of them.
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
  /// Returns whether all conditions hold. An empty list always holds.
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
  fileprivate func equals(_ text: UntrustedText) -> Bool {
    if case .text(let own) = self { text == UntrustedText(own) } else { false }
  }

  fileprivate func equals(_ value: JSONElement) -> Bool {
    switch self {
    case .text(let text): value.isText(text)
    case .number(let number): value.number == number
    case .boolean(let boolean): value.boolean == boolean
    }
  }
}

extension UntrustedText {
  /// Returns whether the text begins with ASCII text, without regard to its case.
  fileprivate func starts(with prefix: String) -> Bool {
    utf8.count >= prefix.utf8.count && zip(utf8, prefix.utf8).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
  }
}
