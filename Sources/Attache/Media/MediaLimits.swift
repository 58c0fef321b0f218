/// The largest file of each kind, in bytes, and the largest picture, in pixels.
///
/// Source: https://developer.apple.com/documentation/usernotifications/unnotificationattachment
/// ("Maximum size": audio 5 MB, image 10 MB, movie 50 MB). Apple does not say which megabyte it
/// means; attache takes the smaller one, 1,000,000 bytes.
public struct MediaLimits: Hashable, Sendable {
  public var image: Int
  public var audio: Int
  public var video: Int
  /// Width times height of a JPEG, PNG or GIF. A file of a few bytes can unpack to gigabytes at
  /// whoever shows it; the figure is imgproxy's
  /// (https://docs.imgproxy.net/configuration/options#security, IMGPROXY_MAX_SRC_RESOLUTION).
  public var pixels: Int

  public init(image: Int = 10_000_000, audio: Int = 5_000_000, video: Int = 50_000_000, pixels: Int = 50_000_000) {
    self.image = image
    self.audio = audio
    self.video = video
    self.pixels = pixels
  }

  public subscript(kind: MediaKind) -> Int {
    switch kind {
    case .image: image
    case .audio: audio
    case .video: video
    }
  }

  /// The largest of the limits: what a file may have before its kind is known.
  public var largest: Int {
    max(image, audio, video)
  }
}
