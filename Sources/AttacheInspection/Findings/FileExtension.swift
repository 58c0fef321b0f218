internal import Attache

/// The file name extension of a URL.
enum FileExtension {
  /// Returns the text after the last dot of the path's last component, in lower case; nil if it is
  /// not 1 to 8 letters and digits.
  static func of(_ url: UntrustedText) -> String? {
    let path = URLReference(Array(url.utf8)[...]).path
    let name = path.suffix(from: path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? path.startIndex)
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    let letters = name[(dot + 1)...].map(\.lowercasedASCII)
    guard (1...8).contains(letters.count), letters.allSatisfy({ $0.isLetterASCII || $0.decimalDigit != nil }) else { return nil }
    return String(decoding: letters, as: UTF8.self)
  }
}

extension MediaType {
  /// Creates the type that Apple's frameworks infer from an extension in lower case.
  ///
  /// Source:
  /// https://developer.apple.com/documentation/uniformtypeidentifiers/system-declared-uniform-type-identifiers
  init?(fileExtension: String) {
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
