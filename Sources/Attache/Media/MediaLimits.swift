/// The maximum file size of each kind, in bytes, and the maximum size of a picture, in pixels.
///
/// Source: https://developer.apple.com/documentation/usernotifications/unnotificationattachment
/// ("Maximum size": audio 5 MB, image 10 MB, movie 50 MB). Apple does not say which megabyte it
/// means; attache uses the smaller one, 1,000,000 bytes.
public struct MediaLimits: Hashable, Sendable {
  /// The maximum size of an image, in bytes.
  public var image: Int
  /// The maximum size of an audio file, in bytes.
  public var audio: Int
  /// The maximum size of a video, in bytes.
  public var video: Int
  /// The maximum width times height of a JPEG, PNG or GIF. A file of a few bytes can decompress to
  /// gigabytes on the device that shows it. The default is imgproxy's
  /// (https://docs.imgproxy.net/configuration/options#security, IMGPROXY_MAX_SRC_RESOLUTION).
  public var pixels: Int

  /// Makes limits. The defaults are Apple's sizes and imgproxy's number of pixels.
  public init(image: Int = 10_000_000, audio: Int = 5_000_000, video: Int = 50_000_000, pixels: Int = 50_000_000) {
    self.image = image
    self.audio = audio
    self.video = video
    self.pixels = pixels
  }

  /// The maximum size of a file of the given kind, in bytes.
  public subscript(kind: MediaKind) -> Int {
    switch kind {
    case .image: image
    case .audio: audio
    case .video: video
    }
  }

  /// The largest of the three sizes, in bytes. It limits a file whose kind is not known yet.
  public var largest: Int {
    max(image, audio, video)
  }
}

extension MediaLimits {
  /// Parses sizes: `image=10MB,audio=5MB,video=50MB`. A kind that is not named keeps Apple's limit.
  ///
  /// - Returns: nil for any other text.
  package init?(written text: String) {
    self.init()
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let pair = part.split(separator: "=", maxSplits: 1)
      guard pair.count == 2, let kind = MediaKind(rawValue: String(pair[0])), let bytes = WrittenByteCount.bytes(String(pair[1])) else {
        return nil
      }
      switch kind {
      case .image: image = Int(bytes)
      case .audio: audio = Int(bytes)
      case .video: video = Int(bytes)
      }
    }
  }
}

extension MediaLimits {
  /// Returns whether a picture of one of Apple's types may be attached.
  func acceptsPicture(bytes: Int, width: Int, height: Int) -> Bool {
    bytes <= image && (width == 0 || height <= pixels / width)
  }
}

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
