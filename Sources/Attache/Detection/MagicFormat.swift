/// The formats that attache looks at, by libmagic's name of them, and the function that reads the
/// header of each.
///
/// libmagic's names are coarser than Apple's identifiers, and differ from version to version; the
/// names of other types are not listed, which is what refuses them.
enum MagicFormat: Equatable {
  case jpeg, png, gif, aiff, wave, avi, mpegAudio, mpegVideo, isoMedia

  /// The format that libmagic's MIME name stands for (5.44, and what later versions call the same),
  /// nil for one that Apple does not list.
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

  /// The format of a head for which libmagic has no name. libmagic 5.44 misses three: an ID3 tag
  /// longer than the prefix (it looks for the frame behind the tag), a few MP3 frames, and ISO
  /// brands younger than itself.
  init?(unnamed head: FileHead) {
    if head.holds("ftyp", at: 4) {
      self = .isoMedia
    } else if ID3Tag(head, at: 0) != nil || MPEGAudioFrame.run(in: head, from: 0) >= 3 {
      self = .mpegAudio
    } else {
      return nil
    }
  }

  /// Reads the header of this format.
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
