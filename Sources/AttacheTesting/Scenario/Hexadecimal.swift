extension [UInt8] {
  /// Parses pairs of hexadecimal digits, with or without blanks between them; nil for anything
  /// else.
  init?(hexadecimal text: String) {
    let digits = text.utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") }
    let nibbles = digits.compactMap { Character(Unicode.Scalar($0)).hexDigitValue.map(UInt8.init) }
    guard nibbles.count == digits.count, nibbles.count.isMultiple(of: 2) else { return nil }
    self = stride(from: 0, to: nibbles.count, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] }
  }

  /// Two hexadecimal digits for each byte.
  var hexadecimalDigits: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
