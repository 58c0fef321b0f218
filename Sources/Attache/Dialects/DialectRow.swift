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
