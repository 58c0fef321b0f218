/// A type of media that attache recognizes by a file's bytes. The raw value is its uniform type
/// identifier.
///
/// Each identifier links to the page on the type. Apple declares the extensions in
/// https://developer.apple.com/documentation/uniformtypeidentifiers/system-declared-uniform-type-identifiers
public enum MediaType: String, CaseIterable, Sendable {
  /// `image/jpeg`, `.jpg`:
  /// https://developer.apple.com/documentation/uniformtypeidentifiers/uttype-swift.struct/jpeg
  case jpeg = "public.jpeg"
  /// `image/gif`, `.gif`, animated or still:
  /// https://developer.apple.com/documentation/uniformtypeidentifiers/uttype-swift.struct/gif
  case gif = "com.compuserve.gif"
  /// `image/png`, `.png`, animated ones included:
  /// https://developer.apple.com/documentation/uniformtypeidentifiers/uttype-swift.struct/png
  case png = "public.png"
  /// `audio/aiff`, `.aiff`, AIFF-C included:
  /// https://developer.apple.com/documentation/uniformtypeidentifiers/uttype-swift.struct/aiff
  case aiff = "public.aiff-audio"
  /// `audio/wav`, `.wav`:
  /// https://developer.apple.com/documentation/uniformtypeidentifiers/uttype-swift.struct/wav
  case wave = "com.microsoft.waveform-audio"
  /// `audio/mpeg`, `.mp3`:
  /// https://developer.apple.com/documentation/uniformtypeidentifiers/uttype-swift.struct/mp3
  case mp3 = "public.mp3"
  /// `audio/mp4`, `.m4a`:
  /// https://developer.apple.com/documentation/uniformtypeidentifiers/uttype-swift.struct/mpeg4audio
  case mpeg4Audio = "public.mpeg-4-audio"
  /// `video/mpeg`, `.mpg`, a program stream of MPEG-1 or MPEG-2, or MPEG-1 video:
  /// https://developer.apple.com/documentation/uniformtypeidentifiers/uttype-swift.struct/mpeg
  case mpeg = "public.mpeg"
  /// `video/mpeg`, `.m2v`, an MPEG-2 video elementary stream:
  /// https://developer.apple.com/documentation/uniformtypeidentifiers/uttype-swift.struct/mpeg2video
  case mpeg2 = "public.mpeg-2-video"
  /// `video/mp4`, `.mp4`:
  /// https://developer.apple.com/documentation/uniformtypeidentifiers/uttype-swift.struct/mpeg4movie
  case mpeg4 = "public.mpeg-4"
  /// `video/x-msvideo`, `.avi`:
  /// https://developer.apple.com/documentation/uniformtypeidentifiers/uttype-swift.struct/avi
  case avi = "public.avi"

  /// Whether Apple accepts a file of this type as an attachment.
  ///
  /// Source: the table "Supported file types" of
  /// https://developer.apple.com/documentation/usernotifications/unnotificationattachment
  ///
  /// The table does not list QuickTime, M4V, CAF, HEIC or WebP.
  public var isAcceptedByApple: Bool {
    switch self {
    case .jpeg, .gif, .png, .aiff, .wave, .mp3, .mpeg4Audio, .mpeg, .mpeg2, .mpeg4, .avi: true
    }
  }

  /// The kind of this type, which decides which of Apple's three size limits applies.
  public var kind: MediaKind {
    switch self {
    case .jpeg, .gif, .png: .image
    case .aiff, .wave, .mp3, .mpeg4Audio: .audio
    case .mpeg, .mpeg2, .mpeg4, .avi: .video
    }
  }

  /// The MIME type as registered with IANA, or the one in common use if none is registered.
  ///
  /// Source: https://www.iana.org/assignments/media-types. None is registered for AIFF, WAVE and
  /// AVI under the names that servers use.
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

extension MediaType {
  /// Creates the type that Apple's frameworks infer from an extension in lower case.
  ///
  /// Source:
  /// https://developer.apple.com/documentation/uniformtypeidentifiers/system-declared-uniform-type-identifiers
  package init?(fileExtension: String) {
    switch fileExtension {
    case "jpg", "jpeg", "jpe": self = .jpeg
    case "png": self = .png
    case "gif": self = .gif
    case "aiff", "aif": self = .aiff
    case "wav", "wave", "bwf": self = .wave
    case "mp3", "mpga": self = .mp3
    case "m4a": self = .mpeg4Audio
    case "mpg", "mpeg", "mpe", "m75", "m15": self = .mpeg
    case "m2v": self = .mpeg2
    case "mp4", "mpg4": self = .mpeg4
    case "avi", "vfw": self = .avi
    default: return nil
    }
  }
}

/// The three kinds of media in Apple's table of attachments. Each has its own maximum size.
///
/// Source: https://developer.apple.com/documentation/usernotifications/unnotificationattachment
public enum MediaKind: String, CaseIterable, Sendable {
  /// Images, audio files, and videos.
  case image, audio, video
}
