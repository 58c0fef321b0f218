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
