extension FetchFailure {
  /// The failure of a file that may be cut off: its format does not mark its end, and neither does
  /// the response.
  static let unknownEnd = FetchFailure(
    reason: .httpTruncated,
    message: "neither the response nor the file shows where the file ends, so that it may be truncated; send a Content-Length, or use https"
  )

  /// The failure of a PNG that only the app reads that it was made for.
  static let appPicture = FetchFailure(
    reason: .typeUnsupported,
    message: "the PNG was optimised by Xcode for an app (CgBI), and nothing else reads it; serve the original file, "
      + "or restore it with xcrun -sdk iphoneos pngcrush -revert-iphone-optimizations IN OUT")

  /// Creates the failure of a file that begins as one of Apple's types does, with a header that is
  /// none.
  ///
  /// - Parameter name: libmagic's name of the type.
  init(damagedHead name: String) {
    self.init(
      reason: .typeUnknown, message: "the bytes begin as \(name), but the header is damaged or cut off; repair the file at the origin")
  }

  /// Creates the failure of a file that is larger than its kind may be.
  init(tooLarge kind: MediaKind, limits: DownloadLimits) {
    let reason: Reason =
      switch kind {
      case .image: .sizeImage
      case .audio: .sizeAudio
      case .video: .sizeVideo
      }
    self.init(
      reason: reason,
      message: "the \(kind.rawValue) is larger than \(limits[kind]) bytes; \(limits.remedy(of: kind))")
  }

  /// Creates the failure of a file whose type Apple does not accept.
  ///
  /// - Parameter mime: the name of the type.
  init(unaccepted mime: String, reason: Reason) {
    let remedy =
      switch mime.prefix(while: { $0 != "/" }) {
      case "image" where PictureFormat(foreign: mime) != nil: "use --convert, which makes a JPEG, PNG or GIF of it"
      case "image": "serve a JPEG, PNG or GIF"
      case "audio": "serve AIFF, WAVE, MP3 or MPEG-4 audio"
      case "video": "serve MPEG, MPEG-2, MPEG-4 or AVI video"
      default: "check what the URL serves"
      }
    self.init(reason: reason, message: "the bytes are \(mime); \(remedy)")
  }

  /// How pictures of Apple's types begin.
  private static let pictures: [(name: String, start: [UInt8])] = [
    ("JPEG", [0xFF, 0xD8, 0xFF]), ("PNG", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), ("GIF", Array("GIF89a".utf8)),
  ]

  /// Creates the failure of a picture that other bytes precede; nil if the head has none.
  ///
  /// - Parameters:
  ///   - head: the first bytes of the file.
  ///   - mime: the name of their type.
  init?(preceded head: ArraySlice<UInt8>, _ mime: String, _ reason: Reason) {
    // A picture within a document, or in a file of another format, is not what the URL should serve.
    guard mime == "application/octet-stream" || mime == "text/plain" else { return nil }
    for start in head.indices.dropFirst() {
      guard let format = Self.pictures.first(where: { head[start...].starts(with: $0.start) }) else { continue }
      let count = start - head.startIndex
      self.init(
        reason: reason,
        message: "\(count) byte\(count == 1 ? " precedes" : "s precede") the start of a \(format.name); "
          + "remove \(count == 1 ? "it" : "them") at the origin, whose program may write text or a byte order mark before the file")
      return
    }
    return nil
  }

  /// Creates the failure of a file with an invalid structure.
  init(_ defect: FileDefect, limits: DownloadLimits) {
    switch defect {
    case .broken(let text):
      let isMendable = limits.conversion == nil && text.utf8.starts(with: "the JPEG".utf8)
      let remedy = isMendable ? "repair it at the origin, or try --convert, which encodes some anew" : "repair it at the origin"
      self.init(reason: .typeBroken, message: "the file is damaged or truncated: \(text); \(remedy)")
    case .foreign(let text):
      self.init(reason: .typeUnsupported, message: "\(text); serve MP3, AIFF, WAVE or MPEG-4 audio")
    case .tooManyPixels(let width, let height):
      self.init(
        reason: .sizePixels,
        message: "the picture has \(width) × \(height) pixels, more than \(limits.pixels) in all; \(limits.remedyOfPixels)"
      )
    }
  }
}
