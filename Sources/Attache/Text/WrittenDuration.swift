/// A span of time as people write it: `300ms`, `2s`, `1m`, `12h`, `30d`.
package enum WrittenDuration {
  private static let units: [(suffix: String, milliseconds: Double)] = [
    ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
  ]
  /// In milliseconds, a hundred years: beyond it nobody means what was written.
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

/// Digits with at most one point among them: what `Double` would take besides (`inf`, `1e9`, `0x1`,
/// a sign) is a slip here.
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
