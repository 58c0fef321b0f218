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

  /// The flag that raises the limit of a kind.
  func flag(of kind: MediaKind) -> String {
    kind == .image && conversion != nil ? "--source-limits" : "--limits \(kind.rawValue)=…"
  }

  /// The flag that raises the limit of pixels.
  var flagOfPixels: String { conversion == nil ? "--max-pixels" : "--max-source-pixels" }
}
