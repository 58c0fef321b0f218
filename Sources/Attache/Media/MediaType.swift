/// One of the eleven types that Apple accepts as an attachment; the raw value is its uniform type identifier.
///
/// Source: the table "Supported file types" of
/// https://developer.apple.com/documentation/usernotifications/unnotificationattachment
public enum MediaType: String, CaseIterable, Sendable {
  case jpeg = "public.jpeg"
  case gif = "com.compuserve.gif"
  case png = "public.png"
  case aiff = "public.aiff-audio"
  case wave = "com.microsoft.waveform-audio"
  case mp3 = "public.mp3"
  case mpeg4Audio = "public.mpeg-4-audio"
  case mpeg = "public.mpeg"
  case mpeg2 = "public.mpeg-2-video"
  case mpeg4 = "public.mpeg-4"
  case avi = "public.avi"

  public var kind: MediaKind {
    switch self {
    case .jpeg, .gif, .png: .image
    case .aiff, .wave, .mp3, .mpeg4Audio: .audio
    case .mpeg, .mpeg2, .mpeg4, .avi: .video
    }
  }

  /// The MIME type as registered with IANA, or as in common use where none is.
  public var mime: String {
    switch self {
    case .jpeg: "image/jpeg"
    case .gif: "image/gif"
    case .png: "image/png"
    case .aiff: "audio/aiff"
    case .wave: "audio/wav"
    case .mp3: "audio/mpeg"
    case .mpeg4Audio: "audio/mp4"
    case .mpeg, .mpeg2: "video/mpeg"
    case .mpeg4: "video/mp4"
    case .avi: "video/x-msvideo"
    }
  }

  /// The file name extension, without a dot, from which Apple's frameworks infer this type.
  public var fileExtension: String {
    switch self {
    case .jpeg: "jpg"
    case .gif: "gif"
    case .png: "png"
    case .aiff: "aiff"
    case .wave: "wav"
    case .mp3: "mp3"
    case .mpeg4Audio: "m4a"
    case .mpeg: "mpg"
    case .mpeg2: "m2v"
    case .mpeg4: "mp4"
    case .avi: "avi"
    }
  }
}
