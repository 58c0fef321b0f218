internal import Attache

/// The name of a result's files: the name of the dropped file, made printable and limited in
/// length.
enum DropName {
  /// In bytes. Together with a number of 19 digits and `.record`, the name fits into 255 bytes.
  private static let maximum = 60
  /// The longest extension, such as `.json`, that is kept when a name is shortened. In bytes.
  private static let maximumEnding = 10

  /// Returns the name with `_` in place of each control character, each character that changes the
  /// direction of text, each slash, and each byte that is not UTF-8. Of a long name, the beginning and
  /// the extension are kept.
  static func kept(of name: FileName) -> String {
    let repaired = String(decoding: name.bytes, as: UTF8.self)
    let scalars = repaired.unicodeScalars.map { $0 == "\u{FFFD}" || $0 == "/" || $0.forgesText ? "_" : $0 }
    return shortened(scalars)
  }

  /// Counts scalars, not characters, because a character may contain any number of combining marks.
  private static func shortened(_ scalars: [Unicode.Scalar]) -> String {
    func length(_ scalars: ArraySlice<Unicode.Scalar>) -> Int { scalars.reduce(0) { $0 + UTF8.width($1) } }
    guard length(scalars[...]) > maximum else { return text(scalars[...]) }
    var ending = scalars.lastIndex(of: ".").map { scalars[$0...] } ?? []
    if length(ending) > maximumEnding { ending = [] }
    var room = maximum - length(ending)
    let beginning = scalars.dropLast(ending.count).prefix { scalar in
      room -= UTF8.width(scalar)
      return room >= 0
    }
    return text(beginning) + text(ending)
  }

  private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    String(String.UnicodeScalarView(scalars))
  }
}

extension String {
  /// The text in one line, for a message. Characters that control a terminal are escaped as
  /// `\u{A}`.
  package var onOneLine: String {
    guard unicodeScalars.contains(where: \.forgesText) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      guard scalar.forgesText else { return text.unicodeScalars.append(scalar) }
      text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }
  }
}
