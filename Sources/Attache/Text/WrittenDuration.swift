/// Parses a duration in the form `300ms`, `2s`, `1m`, `12h` or `30d`.
package enum WrittenDuration {
  private static let units: [(suffix: String, milliseconds: Double)] = [
    ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
  ]
  /// The longest duration, in milliseconds: a hundred years. A longer one is taken for a mistake.
  private static let longest = 3.2e12

  /// - Returns: nil for any other text, and for more than a hundred years.
  package static func duration(_ text: String) -> Duration? {
    for (suffix, scale) in units where text.hasSuffix(suffix) {
      guard let number = PlainNumber(text.dropLast(suffix.count)), number.value * scale <= longest else { continue }
      return .microseconds(Int64(number.value * scale * 1_000))
    }
    return nil
  }
}

/// A number written as digits with at most one point. The other forms that `Double` accepts (`inf`,
/// `1e9`, `0x1`, a sign) are treated as mistakes.
package struct PlainNumber {
  package var value: Double

  package init?(_ text: some StringProtocol) {
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    guard text.utf8.first.map(digits.contains) == true, text.utf8.allSatisfy({ digits.contains($0) || $0 == UInt8(ascii: ".") }),
      let value = Double(String(text))
    else { return nil }
    self.value = value
  }
}
