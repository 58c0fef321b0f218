/// The largest file of each kind, in bytes.
///
/// Source: https://developer.apple.com/documentation/usernotifications/unnotificationattachment ("Maximum size": audio 5 MB, image 10 MB,
/// movie 50 MB). Apple does not say which megabyte it means; attache takes the smaller one, 1,000,000 bytes.
public struct MediaLimits: Hashable, Sendable {
  public var image: Int
  public var audio: Int
  public var video: Int

  public init(image: Int = 10_000_000, audio: Int = 5_000_000, video: Int = 50_000_000) {
    self.image = image
    self.audio = audio
    self.video = video
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
