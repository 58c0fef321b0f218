/// A row of a table, prepared for an engine.
final class DialectRow {
  /// What the engine reads if a payload satisfies the row's needs.
  final class Content {
    let when: [RowCondition]
    /// The places of media. Of those with the same `list`, only the first that yields media is
    /// used.
    let media: [MediaPlace]
    /// The row's conditions without their demands for a type.
    let whenOfAnyKind: [RowCondition]
    /// The places whose values may have a wrong type, each with its conditions without their demands
    /// for a type.
    let places: [(place: MediaPlace, when: [RowCondition])]

    init(_ dialect: Dialect, _ heads: FirstKeyTable) {
      func prepared(_ conditions: [Condition]) -> [RowCondition] { conditions.map { RowCondition($0.bound(to: heads)) } }
      when = prepared(dialect.when)
      media = dialect.media.enumerated().flatMap { list, sources in sources.map { MediaPlace($0, list: list, heads) } }
      whenOfAnyKind = prepared(dialect.when.map(\.ofAnyKind))
      places = dialect.precedence == .vendor ? media.map { ($0, prepared($0.source.when.map(\.ofAnyKind))) } : []
    }
  }

  let name: String
  let precedence: Dialect.Precedence
  /// For each need, the numbers of the first keys that satisfy it.
  let needs: [[Int]]
  let namesMedia: Bool
  let dialect: Dialect
  private var content: Content?

  init(_ dialect: Dialect, _ heads: inout FirstKeyTable) {
    name = dialect.name
    precedence = dialect.precedence
    self.dialect = dialect
    let needed = DialectNeeds(dialect)
    namesMedia = needed.namesMedia
    var needs: [[Int]] = []
    // An engine stores needs as bits of an integer. Dropping the excess causes unnecessary reads
    // but misses no media.
    for places in needed.needs.prefix(63) {
      let numbers = places.compactMap { heads.number(of: $0) }
      if numbers.count == places.count { needs.append(numbers) }
    }
    self.needs = needs
  }

  /// Returns the content, which is prepared on first use.
  func content(_ heads: FirstKeyTable) -> Content {
    if let content { return content }
    let content = Content(dialect, heads)
    self.content = content
    return content
  }
}

/// A condition of a row, prepared for an engine. The first keys that a payload contains decide most
/// conditions without a look into the values.
final class RowCondition {
  private let condition: Condition
  private let head: Int?
  private let isAbsence: Bool
  /// The conditions of which at least one must hold; nil if this is not an `any` group.
  private let group: [RowCondition]?

  /// - Parameter condition: a condition that is bound to the engine's first keys.
  init(_ condition: Condition) {
    self.condition = condition
    head =
      switch condition {
      case .present(let path), .kind(let path, _), .equals(let path, _), .starts(let path, _), .absent(let path): path.head?.number
      case .any, .none: nil
      }
    isAbsence = if case .absent = condition { true } else { false }
    group = if case .any(let conditions) = condition { conditions.map(RowCondition.init) } else { nil }
  }

  func holds(in payload: JSONElement, _ heads: FirstKeyMatches) -> Bool {
    if let head, heads[head] == nil { return isAbsence }
    guard let group else { return condition.holds(in: payload, heads) }
    for condition in group where condition.holds(in: payload, heads) { return true }
    return false
  }
}

extension [RowCondition] {
  /// Returns whether all conditions hold.
  func hold(in payload: JSONElement, _ heads: FirstKeyMatches) -> Bool {
    for condition in self where !condition.holds(in: payload, heads) { return false }
    return true
  }
}

/// A media source, prepared for an engine.
final class MediaPlace: Sendable {
  let source: MediaSource
  /// The index of the list of alternatives in its row.
  let list: Int
  /// The first key of the source; nil if that is not a single member of the payload.
  let head: FirstKeyTable.Head?
  /// The path of the URL, if it matches one value of the payload.
  let path: DialectPath?
  /// The parts of ``path``.
  let tokens: [JSONPointer.Token]

  init(_ source: MediaSource, list: Int, _ heads: FirstKeyTable) {
    self.source = source
    self.list = list
    head = source.firstPlace.flatMap { heads.head(of: $0) }
    if case .url(let path) = source.origin, source.json == nil, !path.isMany { self.path = path } else { path = nil }
    tokens = path?.tokens ?? []
  }
}

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
