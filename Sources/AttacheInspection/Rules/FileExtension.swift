internal import Attache

/// The file name extension of a URL.
enum FileExtension {
  /// Those of the pictures that `--convert` makes others of.
  private static let converted: Set = ["webp", "heic", "heif", "avif", "tif", "tiff"]

  /// Returns whether `--convert` makes a picture that Apple accepts of a file with this extension.
  static func isConverted(_ fileExtension: String?) -> Bool {
    fileExtension.map(converted.contains) ?? false
  }

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
