/// Tests and conversions of single bytes, for ASCII only.
extension UInt8 {
  /// The value 0…9 of an ASCII digit; nil for any other byte.
  package var decimalDigit: Int? {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) ? Int(self - UInt8(ascii: "0")) : nil
  }

  /// The value 0…15 of an ASCII hexadecimal digit of either case; nil for any other byte.
  var hexadecimalDigit: Int? {
    if let digit = decimalDigit { return digit }
    let lower = lowercasedASCII
    return (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(lower) ? Int(lower - UInt8(ascii: "a")) + 10 : nil
  }

  /// Whether the byte is an ASCII letter of either case.
  package var isLetterASCII: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercasedASCII)
  }

  /// The byte, with an ASCII capital letter converted to lower case.
  package var lowercasedASCII: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }

  /// The byte, with a small ASCII letter converted to upper case.
  package var uppercasedASCII: UInt8 {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) ? self & 0xDF : self
  }

  /// Whether the byte is a C0 control character or DEL.
  var isControlASCII: Bool { self < 0x20 || self == 0x7F }
}

extension ArraySlice<UInt8> {
  /// Whether every byte is ASCII.
  var isASCII: Bool { allSatisfy { $0 < 0x80 } }
}
