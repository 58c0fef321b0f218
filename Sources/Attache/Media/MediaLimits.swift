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
