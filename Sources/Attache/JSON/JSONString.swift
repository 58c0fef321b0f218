/// Decodes a JSON string in a text, and maps its decoded bytes to their source.
enum JSONString {
  /// Returns the decoded string in UTF-8. An unpaired surrogate becomes the replacement character.
  ///
  /// - Parameters:
  ///   - text: contains the string, which is known to be valid.
  ///   - range: the string without its quotes.
  static func unescaped(_ text: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
    unescaped(text, range) { _ in UTF8.encodedReplacementCharacter.map(\.self) }
  }

  /// Returns bytes that identify the string: the same bytes for the same text, however it is
  /// escaped. An unpaired surrogate keeps its number, as three bytes of generalised UTF-8
  /// (https://simonsapin.github.io/wtf-8/), which valid text never contains.
  static func identity(_ text: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
    unescaped(text, range) { unit in [0xE0 | UInt8(unit >> 12), 0x80 | UInt8(unit >> 6 & 0x3F), 0x80 | UInt8(unit & 0x3F)] }
  }

  private static func unescaped(_ text: Span<UInt8>, _ range: Range<Int>, _ encodeHalf: (UInt32) -> [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    var index = range.lowerBound
    while index < range.upperBound {
      let piece = piece(of: text, at: index)
      if piece.length == 6, let unit = unit(of: text, at: index), 0xD800..<0xE000 ~= unit {
        bytes.append(contentsOf: encodeHalf(unit))
      } else if let scalar = piece.scalar {
        bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      } else {
        bytes.append(text[index])
      }
      index += piece.length
    }
    return bytes
  }

  /// Returns the source index of the byte at `offset` of the decoded string, or the end of the
  /// range for the offset after the last byte.
  static func place(of offset: Int, in text: Span<UInt8>, _ range: Range<Int>) -> Int {
    var index = range.lowerBound
    var said = 0
    while said < offset, index < range.upperBound {
      let piece = piece(of: text, at: index)
      said += piece.scalar.map { UTF8.width($0) } ?? 1
      index += piece.length
    }
    return index
  }

  /// Returns the bytes as they are written within a string. Escapes only what JSON requires.
  static func escaped(_ bytes: [UInt8]) -> [UInt8] {
    var json = JSONWriter()
    json.string(String(decoding: bytes, as: UTF8.self))
    return Array(json.bytes.dropFirst().dropLast())
  }

  /// Returns what starts at `index`: an escape for a scalar, or one unescaped byte.
  private static func piece(of text: Span<UInt8>, at index: Int) -> (length: Int, scalar: Unicode.Scalar?) {
    guard text[index] == UInt8(ascii: "\\") else { return (1, nil) }
    switch text[index + 1] {
    case UInt8(ascii: "b"): return (2, "\u{8}")
    case UInt8(ascii: "f"): return (2, "\u{C}")
    case UInt8(ascii: "n"): return (2, "\n")
    case UInt8(ascii: "r"): return (2, "\r")
    case UInt8(ascii: "t"): return (2, "\t")
    case UInt8(ascii: "u"): return scalar(of: text, at: index)
    case let byte: return (2, Unicode.Scalar(byte))
    }
  }

  private static func scalar(of text: Span<UInt8>, at index: Int) -> (length: Int, scalar: Unicode.Scalar?) {
    let unit = unit(of: text, at: index) ?? 0xFFFD
    if 0xD800..<0xDC00 ~= unit, let low = self.unit(of: text, at: index + 6), 0xDC00..<0xE000 ~= low {
      return (12, Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)))
    }
    return (6, Unicode.Scalar(unit) ?? "\u{FFFD}")
  }

  /// Returns the UTF-16 unit of the escape `\uXXXX` at `index`; nil when there is none.
  static func unit(of text: Span<UInt8>, at index: Int) -> UInt32? {
    guard index + 6 <= text.count, text[index] == UInt8(ascii: "\\"), text[index + 1] == UInt8(ascii: "u") else { return nil }
    var unit: UInt32 = 0
    for place in index + 2..<index + 6 {
      guard let digit = Character(Unicode.Scalar(text[place])).hexDigitValue else { return nil }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }
}
