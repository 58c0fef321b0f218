extension IPAddress {
  /// Parses the strict text form: four decimal octets without leading zeros, or RFC 4291 without
  /// brackets and zone.
  ///
  /// Returns nil for any other text, including the short, octal and hexadecimal IPv4 forms of
  /// `inet_aton`.
  public init?(_ text: String) {
    let bytes = Array(text.utf8.prefix(64))
    if bytes.contains(UInt8(ascii: ":")) {
      guard let bits = Self.parseV6(bytes[...]) else { return nil }
      self = .v6(bits)
    } else {
      guard let bits = Self.parseV4(bytes[...]) else { return nil }
      self = .v4(bits)
    }
  }

  /// Parses a strict dotted quad.
  static func parseV4(_ text: ArraySlice<UInt8>) -> UInt32? {
    let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 4, omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var bits: UInt32 = 0
    for part in parts {
      guard let octet = decimal(part, maximum: 255) else { return nil }
      bits = bits << 8 | UInt32(octet)
    }
    return bits
  }

  /// Parses colon-separated groups of up to four hexadecimal digits, with at most one `::`. The
  /// last 32 bits may be a dotted quad.
  static func parseV6(_ text: ArraySlice<UInt8>) -> UInt128? {
    guard text.count <= 45 else { return nil }
    guard let gap = doubleColon(in: text) else {
      guard let groups = groups(text, mayEndInQuad: true), groups.count == 8 else { return nil }
      return join(groups)
    }
    guard let head = groups(text[..<gap], mayEndInQuad: false),
      let tail = groups(text[(gap + 2)...], mayEndInQuad: true),
      head.count + tail.count <= 7
    else { return nil }
    return join(head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail)
  }

  /// Parses a decimal number up to `maximum`, without a sign or leading zeros.
  static func decimal(_ digits: ArraySlice<UInt8>, maximum: Int) -> Int? {
    guard let first = digits.first, digits.count <= 5, digits.count == 1 || first != UInt8(ascii: "0") else { return nil }
    var value = 0
    for digit in digits {
      guard let number = digit.decimalDigit else { return nil }
      value = value * 10 + number
    }
    return value <= maximum ? value : nil
  }

  private static func join(_ groups: [UInt16]) -> UInt128 {
    groups.reduce(0) { $0 << 16 | UInt128($1) }
  }

  private static func doubleColon(in text: ArraySlice<UInt8>) -> Int? {
    text.indices.dropLast().first { text[$0] == UInt8(ascii: ":") && text[$0 + 1] == UInt8(ascii: ":") }
  }

  private static func groups(_ text: ArraySlice<UInt8>, mayEndInQuad: Bool) -> [UInt16]? {
    if text.isEmpty { return [] }
    var groups: [UInt16] = []
    let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      if mayEndInQuad, index == parts.count - 1, let quad = parseV4(part) {
        groups += [UInt16(quad >> 16), UInt16(truncatingIfNeeded: quad)]
      } else if let group = hexadecimal(part) {
        groups.append(group)
      } else {
        return nil
      }
    }
    return groups
  }

  private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt16? {
    guard (1...4).contains(digits.count) else { return nil }
    var value: UInt16 = 0
    for digit in digits {
      guard let number = digit.hexadecimalDigit else { return nil }
      value = value << 4 | UInt16(number)
    }
    return value
  }
}
