/// A place in a payload where a dialect writes media, and where it says more about them.
struct MediaSource: Sendable {
  /// Where the URL comes from.
  enum Origin: Sendable {
    case url(DialectPath)
    /// It is put together from texts of the payload.
    case build([Piece])
  }

  /// A piece of a URL that is put together.
  enum Piece: Sendable {
    case text(String)
    /// A non-empty string or an integer.
    case value(DialectPath)
  }

  var origin: Origin
  /// The place of a string that holds JSON, which the origin and the conditions then count from.
  var json: DialectPath?
  /// Whether an object with the member `url` and an array of strings or such objects are understood
  /// beside a string.
  var takesAnyForm = false
  var when: [Condition] = []
  /// Whether only absolute URLs (with `://`) count: a bare word under a common key is the name of
  /// an asset.
  var needsScheme = false
  /// Whether white space around the URL is cut.
  var trims = false
  var identifier: [Field] = []
  var typeHint: [Field] = []
  var thumbnailHidden: [Field] = []
  var thumbnailClippingRect: [Field] = []
  var thumbnailTime: [Field] = []
  var lazy: [Field] = []
  /// How the hint is written; nil when its own form tells.
  var hintKind: MediaReference.HintKind?
  /// The uniform type that each of the vendor's own words stands for.
  var hintWords: [UntrustedText: String] = [:]
  /// Where further URLs of the same media stand.
  var fallbacks: [DialectPath] = []
  var role = MediaReference.Role.attachment
  var needs: MediaReference.Needs = []
  /// How many references count.
  var maximum = Int.max

  init(_ origin: Origin) {
    self.origin = origin
  }

  /// The place in the payload without which there is nothing here; nil when that is no one place.
  var firstPlace: DialectPath? {
    if let json { return json }
    switch origin {
    case .url(let path): return path
    case .build(let pieces):
      for case .value(let path) in pieces { return path }
      return nil
    }
  }

  /// A place that the user names, whatever stands there. Objects say more with the names of
  /// attache's own output: `identifier`, `type`, `options`.
  static func mediaKey(_ path: JSONPointer) -> MediaSource {
    var source = MediaSource(.url(DialectPath(path)))
    source.takesAnyForm = true
    source.identifier = [.inside("identifier")]
    source.typeHint = [.inside("type")]
    source.thumbnailHidden = [.inside("options", "thumbnailHidden")]
    source.thumbnailClippingRect = [.inside("options", "thumbnailClippingRect")]
    source.thumbnailTime = [.inside("options", "thumbnailTime")]
    return source
  }
}

extension Field {
  fileprivate static func inside(_ names: String...) -> Field {
    Field(origin: .inside(DialectPath(JSONPointer(parts: names))))
  }
}
