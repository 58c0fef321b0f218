/// A source as an engine asks it.
final class MediaPlace {
  let source: MediaSource
  /// The member of the payload that its place begins with, as its place in the engine's ``MemberIndex``; nil when that is no one member.
  let member: Int?
  /// The URL's place, when it stands for one value of the payload.
  let path: DialectPath?

  init(_ source: MediaSource, _ names: inout NameList) {
    self.source = source
    member = source.member.map { names.place($0) }
    if case .url(let path) = source.origin, source.json == nil, !path.isMany { self.path = path } else { path = nil }
  }
}
