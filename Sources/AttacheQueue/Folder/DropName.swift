internal import Attache

/// What the result of a dropped file is named after: the dropped file's name, as far as it can be
/// shown and kept.
enum DropName {
  /// Bytes: with a number of 19 digits and `.record` it fits into a name of 255.
  private static let maximum = 60
  /// The longest ending that is kept of a name that is too long, such as `.json`, in bytes.
  private static let maximumEnding = 10

  /// A name in which each control character, each character that changes the direction of text, and
  /// each byte that is no UTF-8 is `_`. Of a long name its beginning and its ending are kept.
  static func kept(of name: FileName) -> String {
    let repaired = String(decoding: name.bytes, as: UTF8.self)
    let scalars = repaired.unicodeScalars.map { $0 == "\u{FFFD}" || $0.forgesText ? "_" : $0 }
    return shortened(scalars)
  }

  /// Counts scalars, not characters: any number of marks may make one character.
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
  /// The text for a message of one line: what a terminal would act on is written as `\u{A}`.
  package var onOneLine: String {
    guard unicodeScalars.contains(where: \.forgesText) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      guard scalar.forgesText else { return text.unicodeScalars.append(scalar) }
      text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }
  }
}
