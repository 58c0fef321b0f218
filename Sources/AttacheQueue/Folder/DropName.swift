/// What the result of a dropped file is named after: the dropped file's name, as far as it can be shown and kept.
enum DropName {
  /// Bytes: with a number of 19 digits and `.record` it fits into a name of 255.
  private static let maximum = 60
  /// The longest ending that is kept of a name that is too long, such as `.json`, in bytes.
  private static let maximumEnding = 10

  /// A name in which each control character, each character that changes the direction of text, and each byte that is no UTF-8 is `_`. Of a long name
  /// its beginning and its ending are kept.
  static func kept(of name: FileName) -> String {
    let repaired = String(decoding: name.bytes, as: UTF8.self)
    let scalars = repaired.unicodeScalars.map { $0 == "\u{FFFD}" || isHidden($0) ? "_" : $0 }
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

  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool { scalar.isHidden }
}

extension Unicode.Scalar {
  /// Whether a terminal would act on it instead of showing it: control characters, separators of lines, and marks that change the direction of text.
  var isHidden: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}

extension String {
  /// The text for a message of one line: what a terminal would act on is written as `\u{A}`.
  package var onOneLine: String {
    guard unicodeScalars.contains(where: \.isHidden) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      if scalar.isHidden { text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}" } else { text.unicodeScalars.append(scalar) }
    }
  }
}
