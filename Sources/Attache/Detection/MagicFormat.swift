/// The formats that attache inspects, by libmagic's names, and the function that reads the header
/// of each.
///
/// libmagic's names are coarser than Apple's identifiers, and differ between versions. Types whose
/// names are not listed are refused.
enum MagicFormat: Equatable {
  case jpeg, png, gif, aiff, wave, avi, mpegAudio, mpegVideo, isoMedia

  /// Returns the format for libmagic's MIME name (of 5.44, or the equivalent of later versions), or
  /// nil for a format that Apple does not list.
  init?(mime: String) {
    switch mime {
    case "image/jpeg": self = .jpeg
    case "image/png", "image/apng", "image/vnd.mozilla.apng": self = .png
    case "image/gif": self = .gif
    case "audio/x-aiff", "audio/aiff": self = .aiff
    case "audio/x-wav", "audio/wav", "audio/vnd.wave": self = .wave
    case "video/x-msvideo", "video/vnd.avi": self = .avi
    case "audio/mpeg": self = .mpegAudio
    case "video/mpeg": self = .mpegVideo
    case "audio/x-m4a", "audio/mp4", "video/mp4": self = .isoMedia
    default: return nil
    }
  }

  /// Returns the format of a head that libmagic cannot name. libmagic 5.44 misses three cases: an
  /// ID3 tag longer than the prefix (it looks for the frame behind the tag), some MP3 frames, and
  /// ISO brands newer than itself.
  init?(unnamed head: FileHead) {
    if head.holds("ftyp", at: 4) {
      self = .isoMedia
    } else if ID3Tag(head, at: 0) != nil || MPEGAudioFrame.run(in: head, from: 0) >= 3 {
      self = .mpegAudio
    } else {
      return nil
    }
  }

  /// Reads the header of this format and returns the verdict.
  func verdict(_ head: FileHead) -> HeadVerdict {
    switch self {
    case .jpeg: ImageHeader.jpeg(head)
    case .png: ImageHeader.png(head)
    case .gif: ImageHeader.gif(head)
    case .aiff: ChunkHeader.aiff(head)
    case .wave: ChunkHeader.wave(head)
    case .avi: ChunkHeader.avi(head)
    case .mpegAudio: MPEGAudioFrame.verdict(head)
    case .mpegVideo: MPEGVideoHeader.verdict(head)
    case .isoMedia: ISOBrand.verdict(head)
    }
  }
}
