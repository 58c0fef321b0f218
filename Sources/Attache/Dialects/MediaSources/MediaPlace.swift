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
