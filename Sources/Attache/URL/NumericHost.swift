/// Parses hosts that `inet_aton`, libcurl and browsers read as IPv4 numbers: one to four decimal,
/// octal or hexadecimal parts.
///
/// Source: https://url.spec.whatwg.org/#concept-ipv4-parser, without the forms that only this
/// source accepts: an empty number (`0x`) and a trailing dot.
enum NumericHost {
  /// Returns whether the last label looks like a number, so that the host must be an IPv4 address.
  static func endsInNumber(_ host: ArraySlice<UInt8>) -> Bool {
    var host = host
    if host.last == UInt8(ascii: ".") { host.removeLast() }
    let last = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).last ?? []
    guard !last.isEmpty else { return false }
    return last.allSatisfy { $0.decimalDigit != nil } || hexadecimalDigits(last)?.allSatisfy { $0.hexadecimalDigit != nil } == true
  }

  /// Returns the address of a numeric host; nil when a part is not a number or is too large, or
  /// when there are too many parts.
  static func address(_ host: ArraySlice<UInt8>) -> IPAddress? {
    let parts = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count <= 4 else { return nil }
    var bits: UInt32 = 0
    for (index, part) in parts.enumerated() {
      // The last part fills all remaining octets.
      let width = index == parts.count - 1 ? 8 * (4 - index) : 8
      guard let value = number(part), value < 1 << UInt64(width) else { return nil }
      bits |= UInt32(value) << (index == parts.count - 1 ? 0 : 24 - 8 * index)
    }
    return .v4(bits)
  }

  private static func number(_ part: ArraySlice<UInt8>) -> UInt64? {
    if let digits = hexadecimalDigits(part) { return value(digits, radix: 16) }
    if part.count > 1, part.first == UInt8(ascii: "0") { return value(part.dropFirst(), radix: 8) }
    return value(part, radix: 10)
  }

  /// Returns the digits after `0x`, or nil without that prefix.
  private static func hexadecimalDigits(_ part: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard part.first == UInt8(ascii: "0"), part.dropFirst().first?.lowercasedASCII == UInt8(ascii: "x") else { return nil }
    return part.dropFirst(2)
  }

  private static func value(_ digits: ArraySlice<UInt8>, radix: UInt64) -> UInt64? {
    guard !digits.isEmpty else { return nil }
    var value: UInt64 = 0
    for digit in digits {
      guard let number = digit.hexadecimalDigit, number < radix, value <= UInt64(UInt32.max) else { return nil }
      value = value * radix + UInt64(number)
    }
    return value
  }
}
