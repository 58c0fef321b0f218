/// The meaning of a type hint or an extension, as far as types can contradict each other.
package enum HintedType: Hashable {
  case type(MediaType)
  /// A common format that Apple's table does not list.
  case foreign(String, MediaKind)
  case kind(MediaKind)

  /// Interprets a reference's hint; nil if it has none, or an unknown one.
  package init?(of reference: MediaReference) {
    guard let hint = reference.typeHint ?? reference.hintedType.map({ UntrustedText($0) }) else { return nil }
    self.init(hint, reference.hintKind, meaning: reference.hintedType)
  }

  /// Interprets a hint; nil if it is unknown.
  ///
  /// - Parameters:
  ///   - kind: the form of the hint; nil if the hint itself shows it.
  ///   - meaning: the uniform type that the hint means, if it is a word of the vendor's own.
  init?(_ hint: UntrustedText, _ kind: MediaReference.HintKind?, meaning: String?) {
    let text = meaning.map { UntrustedText($0) } ?? hint
    // A user of the library may give a hint of any length.
    guard let hint = text.lowercasedWord(maximumBytes: MediaReference.longestHint), !hint.isEmpty else { return nil }
    let isMIME = meaning == nil && (kind == .mime || kind == nil && hint.contains("/"))
    guard let meaning = isMIME ? HintedType(mime: hint) : HintedType(word: hint) else { return nil }
    self = meaning
  }

  /// Interprets a hint that has no other description; nil if it is unknown.
  package init?(word: UntrustedText) {
    self.init(word, nil, meaning: nil)
  }

  package init?(fileExtension: String) {
    if let type = MediaType(fileExtension: fileExtension) {
      self = .type(type)
    } else if let kind = Self.foreignKinds[fileExtension] {
      self = .foreign(fileExtension == "heif" ? "heic" : fileExtension, kind)
    } else {
      return nil
    }
  }

  /// Returns whether both can be true of the same file.
  package func agrees(with other: HintedType) -> Bool {
    switch (self, other) {
    case (.kind(let kind), _): kind == other.mediaKind
    case (_, .kind(let kind)): kind == mediaKind
    case (.type(.mpeg), .type(.mpeg2)), (.type(.mpeg2), .type(.mpeg)): true
    case (.type, _), (.foreign, _): self == other
    }
  }

  private var mediaKind: MediaKind {
    switch self {
    case .type(let type): type.kind
    case .foreign(_, let kind), .kind(let kind): kind
    }
  }

  private static let foreignKinds: [String: MediaKind] = [
    "webp": .image, "heic": .image, "heif": .image, "avif": .image, "svg": .image, "bmp": .image, "tiff": .image, "tif": .image,
    "mov": .video, "m4v": .video, "webm": .video, "mkv": .video, "ogg": .audio, "oga": .audio, "opus": .audio, "aac": .audio, "caf": .audio,
    "flac": .audio,
  ]

  private init?(mime: String) {
    let plain = mime.prefix { $0 != ";" && $0 != " " }
    let parts = plain.split(separator: "/", maxSplits: 1)
    guard let first = parts.first, parts.count == 2, let kind = MediaKind(rawValue: String(first)) else { return nil }
    if let type = MediaType.allCases.first(where: { $0.mime == plain }) ?? Self.otherNames[String(plain)] {
      self = .type(type)
    } else if parts[1] == "*" {
      self = .kind(kind)
    } else {
      self = HintedType(fileExtension: String(parts[1].trimmingExperimental)) ?? .kind(kind)
    }
  }

  /// MIME types in use besides those that ``MediaType/mime`` gives.
  private static let otherNames: [String: MediaType] = [
    "image/jpg": .jpeg, "image/pjpeg": .jpeg, "audio/mp3": .mp3, "audio/x-wav": .wave, "audio/wave": .wave, "audio/vnd.wave": .wave,
    "audio/x-aiff": .aiff, "audio/m4a": .mpeg4Audio, "audio/x-m4a": .mpeg4Audio, "video/avi": .avi, "video/msvideo": .avi,
  ]

  /// Interprets a uniform type, an extension with or without its dot, or a word for many types.
  private init?(word: String) {
    if let type = MediaType(rawValue: word) {
      self = .type(type)
    } else if let kind = Self.classes[word] {
      self = .kind(kind)
    } else if let foreign = Self.foreignTypes[word] {
      self = HintedType(fileExtension: foreign) ?? .kind(.image)
    } else if let meaning = HintedType(fileExtension: String(word.drop { $0 == "." })) {
      self = meaning
    } else {
      return nil
    }
  }

  private static let classes: [String: MediaKind] = [
    "image": .image, "public.image": .image, "photo": .image, "picture": .image, "video": .video, "movie": .video, "public.movie": .video,
    "public.video": .video, "audio": .audio, "sound": .audio, "public.audio": .audio,
  ]
  private static let foreignTypes: [String: String] = [
    "org.webmproject.webp": "webp", "public.heic": "heic", "public.heif": "heic", "com.apple.quicktime-movie": "mov",
    "com.apple.m4v-video": "m4v", "com.apple.coreaudio-format": "caf", "public.svg-image": "svg", "public.tiff": "tiff",
  ]
}

extension Substring {
  /// The subtype without the `x-` of unregistered types.
  fileprivate var trimmingExperimental: Substring {
    hasPrefix("x-") ? dropFirst(2) : self
  }
}
