/// A place in a payload where a dialect writes media, and the places of their properties.
struct MediaSource: Sendable {
  /// Where the URL comes from.
  enum Origin: Sendable {
    case url(DialectPath)
    /// The URL is composed of texts in the payload.
    case build([Piece])
  }

  /// A piece of a composed URL.
  enum Piece: Sendable {
    case text(String)
    /// A non-empty string or an integer.
    case value(DialectPath)
  }

  var origin: Origin
  /// The path of a string that holds JSON. The origin and the conditions then start from that JSON.
  var json: DialectPath?
  /// Whether to accept, besides a string, an object with the member `url` and an array of strings
  /// or such objects.
  var takesAnyForm = false
  var when: [Condition] = []
  /// Whether only texts count that are meant as a URL or as the media themselves. A bare word under a
  /// common key is the name of an asset.
  var needsScheme = false
  var identifier: [Field] = []
  var typeHint: [Field] = []
  var thumbnailHidden: [Field] = []
  var thumbnailClippingRect: [Field] = []
  var thumbnailTime: [Field] = []
  var lazy: [Field] = []
  /// The notation of the hint; nil if the hint's own form determines it.
  var hintKind: MediaReference.HintKind?
  /// The uniform type for each of the vendor's own words.
  var hintWords: [UntrustedText: String] = [:]
  /// The paths of further URLs of the same media.
  var fallbacks: [DialectPath] = []
  var role = MediaReference.Role.attachment
  var needs: MediaReference.Needs = []
  /// The maximum number of references to read.
  var maximum = Int.max

  init(_ origin: Origin) {
    self.origin = origin
  }

  /// The path that must exist for the source to give anything; nil if there is no single such path.
  var firstPlace: DialectPath? {
    if let json { return json }
    switch origin {
    case .url(let path): return path
    case .build(let pieces):
      for case .value(let path) in pieces { return path }
      return nil
    }
  }

  /// A source for a place that the user names, with a value of any form. Objects use the names of
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
