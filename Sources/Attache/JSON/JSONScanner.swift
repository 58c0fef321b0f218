/// Reads the tokens of a JSON text one after another, and checks them against the grammar of RFC
/// 8259. Does not check that strings are UTF-8.
package struct JSONScanner {
  package enum Token {
    case beginObject, beginArray
    /// The closing bracket of an object or an array.
    case end
    /// The name of a member, with the colon after it.
    case name
    case string, number
    /// `true`, `false` or `null`.
    case word
  }

  /// The text violates the grammar.
  package struct Failure: Error {
    /// The offset of the first byte that violates it, or of the first letter of an unknown word;
    /// the length of the text when something is missing at its end.
    package let offset: Int

    package init(offset: Int) {
      self.offset = offset
    }
  }

  private enum Place {
    case beforeValue, afterOpeningBracket, afterValue
  }

  /// The range of the last token. That of a name or a string includes the quotes, but no colon.
  package private(set) var range = 0..<0
  /// Whether the last name or string has an escape.
  private(set) var hasEscape = false
  private var index = 0
  private var place = Place.beforeValue
  /// The closing brackets of the open objects and arrays, from the outermost to the innermost.
  private var closings: [UInt8] = []

  package init() {}

  /// Returns the offset of the first violation, as ``Failure`` does; the length of a valid text.
  static func errorOffset(in text: Span<UInt8>) -> Int {
    var scanner = JSONScanner()
    do throws(Failure) {
      while try scanner.next(in: text) != nil {}
      return text.count
    } catch {
      return error.offset
    }
  }

  /// The number of open objects and arrays.
  package var depth: Int { closings.count }

  /// Reads the next token; nil at the end of a valid text.
  ///
  /// - Parameter text: the same text in each call.
  package mutating func next(in text: Span<UInt8>) throws(Failure) -> Token? {
    index = text.skipSpace(from: index)
    guard place != .beforeValue else { return try value(in: text) }
    guard let closing = closings.last else {
      if index < text.count { throw Failure(offset: index) }
      return nil
    }
    if first(of: text) == closing {
      closings.removeLast()
      (range, index, place) = (index..<index + 1, index + 1, .afterValue)
      return .end
    }
    if place == .afterValue {
      try skip(",", in: text)
      index = text.skipSpace(from: index)
    }
    return closing == UInt8(ascii: "}") ? try name(in: text) : try value(in: text)
  }

  private mutating func name(in text: Span<UInt8>) throws(Failure) -> Token {
    let start = index
    try skipString(in: text)
    range = start..<index
    index = text.skipSpace(from: index)
    try skip(":", in: text)
    place = .beforeValue
    return .name
  }

  private mutating func value(in text: Span<UInt8>) throws(Failure) -> Token {
    let start = index
    defer { range = start..<index }
    place = .afterValue
    guard let byte = first(of: text) else { throw Failure(offset: index) }
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      index += 1
      place = .afterOpeningBracket
      closings.append(byte + 2)  // In ASCII, a closing bracket is two after its opening bracket.
      return byte == UInt8(ascii: "{") ? .beginObject : .beginArray
    case UInt8(ascii: "\""):
      try skipString(in: text)
      return .string
    case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
      try skipWord(byte == UInt8(ascii: "t") ? "true" : byte == UInt8(ascii: "f") ? "false" : "null", in: text)
      return .word
    default:
      try skipNumber(in: text)
      return .number
    }
  }

  private mutating func skipString(in text: Span<UInt8>) throws(Failure) {
    try skip("\"", in: text)
    hasEscape = false
    while true {
      index = text.skipPlain(from: index)
      guard take("\\", in: text) else { break }
      hasEscape = true
      if take("u", in: text) {
        for _ in 0..<4 { try skip(oneOf: "0123456789abcdefABCDEF", in: text) }
      } else {
        try skip(oneOf: #""\/bfnrt"#, in: text)
      }
    }
    try skip("\"", in: text)
  }

  private mutating func skipNumber(in text: Span<UInt8>) throws(Failure) {
    _ = take("-", in: text)
    if !take("0", in: text) { try skipDigits(in: text) }
    if take(".", in: text) { try skipDigits(in: text) }
    if take("e", in: text) || take("E", in: text) {
      _ = take("+", in: text) || take("-", in: text)
      try skipDigits(in: text)
    }
  }

  /// Skips one or more digits.
  private mutating func skipDigits(in text: Span<UInt8>) throws(Failure) {
    let start = index
    while let byte = first(of: text), 0x30...0x39 ~= byte { index += 1 }
    if index == start { throw Failure(offset: index) }
  }

  private func first(of text: Span<UInt8>) -> UInt8? {
    index < text.count ? text[index] : nil
  }

  /// Skips the character if it is next, and returns whether it is.
  private mutating func take(_ character: Unicode.Scalar, in text: Span<UInt8>) -> Bool {
    guard first(of: text) == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  private mutating func skip(oneOf characters: String, in text: Span<UInt8>) throws(Failure) {
    guard let byte = first(of: text), characters.utf8.contains(byte) else { throw Failure(offset: index) }
    index += 1
  }

  private mutating func skip(_ character: Unicode.Scalar, in text: Span<UInt8>) throws(Failure) {
    guard take(character, in: text) else { throw Failure(offset: index) }
  }

  private mutating func skipWord(_ word: String, in text: Span<UInt8>) throws(Failure) {
    let start = index
    for byte in word.utf8 {
      guard let next = first(of: text) else { throw Failure(offset: index) }
      guard next == byte else { throw Failure(offset: start) }
      index += 1
    }
  }
}
