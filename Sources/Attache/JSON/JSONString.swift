/// Decodes a JSON string in a text, and maps its decoded bytes to their source.
package enum JSONString {
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
  package static func identity(_ text: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
    unescaped(text, range) { unit in [0xE0 | UInt8(unit >> 12), 0x80 | UInt8(unit >> 6 & 0x3F), 0x80 | UInt8(unit & 0x3F)] }
  }

  private static func unescaped(_ text: Span<UInt8>, _ range: Range<Int>, _ encodeHalf: (UInt32) -> [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    var index = range.lowerBound
    while index < range.upperBound {
      guard text[index] == UInt8(ascii: "\\") else {
        bytes.append(text[index])
        index += 1
        continue
      }
      let (length, number) = escape(in: text, at: index)
      if let scalar = Unicode.Scalar(number) {
        bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      } else {
        bytes.append(contentsOf: encodeHalf(number))
      }
      index += length
    }
    return bytes
  }

  /// Returns, for each offset in the decoded string, the source index of its byte, or the end of
  /// the range for the offset after the last byte. Passes over the string once.
  static func places(of offsets: [Int], in text: Span<UInt8>, _ range: Range<Int>) -> [Int] {
    var places = offsets
    var index = range.lowerBound
    var said = 0
    for position in offsets.indices.sorted(by: { offsets[$0] < offsets[$1] }) {
      while said < offsets[position], index < range.upperBound {
        guard text[index] == UInt8(ascii: "\\") else {
          said += 1
          index += 1
          continue
        }
        let (length, number) = escape(in: text, at: index)
        said += UTF8.width(Unicode.Scalar(number) ?? "\u{FFFD}")
        index += length
      }
      places[position] = index
    }
    return places
  }

  /// Returns the bytes as they are written within a string. Escapes only what JSON requires.
  static func escaped(_ bytes: [UInt8]) -> [UInt8] {
    var json = JSONWriter()
    json.string(String(decoding: bytes, as: UTF8.self))
    return Array(json.bytes.dropFirst().dropLast())
  }

  /// Returns the length of the escape at `index`, and the number of its scalar or of its unpaired
  /// surrogate.
  static func escape(in text: Span<UInt8>, at index: Int) -> (length: Int, number: UInt32) {
    switch text[index + 1] {
    case UInt8(ascii: "b"): return (2, 0x08)
    case UInt8(ascii: "f"): return (2, 0x0C)
    case UInt8(ascii: "n"): return (2, 0x0A)
    case UInt8(ascii: "r"): return (2, 0x0D)
    case UInt8(ascii: "t"): return (2, 0x09)
    case UInt8(ascii: "u"):
      let unit = unit(of: text, at: index) ?? 0xFFFD
      guard 0xD800..<0xDC00 ~= unit, let low = self.unit(of: text, at: index + 6), 0xDC00..<0xE000 ~= low else { return (6, unit) }
      return (12, 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
    case let byte: return (2, UInt32(byte))
    }
  }

  /// Returns the UTF-16 unit of the escape `\uXXXX` at `index`; nil when there is none.
  private static func unit(of text: Span<UInt8>, at index: Int) -> UInt32? {
    guard index + 6 <= text.count, text[index] == UInt8(ascii: "\\"), text[index + 1] == UInt8(ascii: "u") else { return nil }
    var unit: UInt32 = 0
    for place in index + 2..<index + 6 {
      guard let digit = Character(Unicode.Scalar(text[place])).hexDigitValue else { return nil }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }
}

extension Range<Int> {
  /// The range of a string's content.
  package var withoutQuotes: Range<Int> { lowerBound + 1..<upperBound - 1 }
}
