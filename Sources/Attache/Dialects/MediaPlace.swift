/// A source as an engine asks it.
final class MediaPlace {
  let source: MediaSource
  /// Which list of alternatives of its row it stands in.
  let list: Int
  /// What its place begins with; nil when that is no one member of the payload.
  let head: FirstKeyTable.Head?
  /// The URL's place, when it stands for one value of the payload.
  let path: DialectPath?

  init(_ source: MediaSource, list: Int, _ heads: FirstKeyTable) {
    self.source = source
    self.list = list
    head = source.firstPlace.flatMap { heads.head(of: $0) }
    if case .url(let path) = source.origin, source.json == nil, !path.isMany { self.path = path } else { path = nil }
  }
}
