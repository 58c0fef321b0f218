/// A row of a table as an engine asks it.
final class DialectRow {
  /// What is asked of a payload that meets the row's needs.
  final class Content {
    let when: [RowCondition]
    /// Of those with the same `list` the first is taken that names any.
    let media: [MediaPlace]

    init(_ dialect: Dialect, _ heads: FirstKeyTable) {
      when = dialect.when.map { RowCondition($0.bound(to: heads)) }
      media = dialect.media.enumerated().flatMap { list, sources in sources.map { MediaPlace($0, list: list, heads) } }
    }
  }

  let name: String
  let precedence: Dialect.Precedence
  /// For each need the numbers of the heads that meet it.
  let needs: [[Int]]
  let namesMedia: Bool
  private let dialect: Dialect
  private var content: Content?

  init(_ dialect: Dialect, _ heads: inout FirstKeyTable) {
    name = dialect.name
    precedence = dialect.precedence
    self.dialect = dialect
    let outline = dialect.outline ?? DialectOutline(dialect)
    namesMedia = outline.namesMedia
    var needs: [[Int]] = []
    // An engine counts needs in bits, and asks in vain rather than too little.
    for places in outline.needs.prefix(63) {
      let numbers = places.compactMap { heads.number(of: $0) }
      if numbers.count == places.count { needs.append(numbers) }
    }
    self.needs = needs
  }

  /// The content, which is read when it is first asked for.
  func content(_ heads: FirstKeyTable) -> Content {
    if let content { return content }
    let content = Content(dialect.withMedia, heads)
    self.content = content
    return content
  }
}
