/// The parts of a dialect that decide whether a payload may contain anything for it.
struct DialectNeeds: Sendable {
  /// For each need, the paths of which the payload must contain at least one first key.
  var needs: [[DialectPath]]
  /// Whether the dialect names any media.
  let namesMedia: Bool

  init(_ dialect: Dialect) {
    namesMedia = !dialect.media.isEmpty
    needs = dialect.when.compactMap(\.places)
    let sources = dialect.media.joined().map(\.firstPlace)
    if !sources.contains(where: { $0 == nil }) { needs.append(sources.compactMap { $0 }) }
  }
}
