/// What tells whether a payload has anything for a dialect, without the dialect itself.
struct DialectOutline: Sendable {
  /// For each need the places one of which must begin in the payload.
  var needs: [[DialectPath]] = []
  /// Whether the dialect names media at all.
  var namesMedia = false

  init() {}

  /// The outline of a dialect that was read whole.
  init(_ dialect: Dialect) {
    namesMedia = !dialect.media.isEmpty
    needs = dialect.when.compactMap(\.places)
    let sources = dialect.media.joined().map(\.firstPlace)
    if !sources.contains(where: { $0 == nil }) { needs.append(sources.compactMap { $0 }) }
  }
}
