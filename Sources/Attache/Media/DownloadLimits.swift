/// What may be downloaded: the limits of what is attached and, with a conversion, its wider limits
/// of pictures.
struct DownloadLimits: Sendable {
  /// The limits of what is attached.
  let attached: MediaLimits
  let conversion: Conversion?

  init(_ attached: MediaLimits, _ conversion: Conversion? = nil) {
    (self.attached, self.conversion) = (attached, conversion)
  }

  /// The maximum size of a file of the given kind, in bytes.
  subscript(kind: MediaKind) -> Int {
    kind == .image ? max(attached.image, conversion?.sourceBytes ?? 0) : attached[kind]
  }

  /// The limit of a file whose kind is not known yet, in bytes.
  var largest: Int { max(attached.largest, self[.image]) }

  /// The maximum number of pixels of a picture.
  var pixels: Int { max(attached.pixels, conversion?.sourcePixels ?? 0) }

  /// What to do with a file that is too large for its kind. A limit above Apple's is no remedy: the
  /// phone would not show the file.
  func remedy(of kind: MediaKind) -> String {
    if kind == .image, conversion != nil { return "shrink it or raise --source-limits" }
    let apple = MediaLimits()[kind]
    let own = attached[kind] < apple ? "or raise --limits \(kind.rawValue)=… (Apple accepts up to \(apple) bytes)" : nil
    switch kind {
    case .image: return own.map { "shrink it, use --convert, \($0)" } ?? "shrink it, or use --convert, which shrinks pictures"
    case .audio, .video: return own.map { "shrink it, \($0)" } ?? "shrink it: Apple accepts no larger one"
    }
  }

  /// What to do with a picture that has too many pixels.
  var remedyOfPixels: String {
    conversion == nil ? "shrink it, use --convert, or raise --max-pixels" : "shrink it or raise --max-source-pixels"
  }
}
