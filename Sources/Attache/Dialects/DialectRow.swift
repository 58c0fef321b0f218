/// A row of a table as an engine asks it.
final class DialectRow {
  let name: String
  let precedence: Dialect.Precedence
  let when: [RowCondition]
  /// The row's media; of those with the same `list` the first is taken that names any.
  let media: [MediaPlace]
  /// What a payload must have for the row to name anything: of each need one of its heads.
  let needs: [[Int]]

  init(_ dialect: Dialect, _ heads: inout PathHeads) {
    name = dialect.name
    precedence = dialect.precedence
    let conditions = dialect.when.map { $0.bound(to: &heads) }
    when = conditions.map(RowCondition.init)
    media = dialect.media.enumerated().flatMap { list, sources in sources.map { MediaPlace($0, list: list, &heads) } }
    let sources = media.map { $0.head?.number }
    let needs = conditions.compactMap(\.heads) + (sources.contains(nil) ? [] : [sources.compactMap { $0 }])
    // An engine counts them in bits, and asks in vain rather than too little.
    self.needs = Array(needs.prefix(63))
  }
}
