/// The allowed range of a flag that counts something.
package enum CountRange {
  /// From 1 to a million. Larger values are mistakes. Sums and products of a few numbers in this
  /// range are far from overflow.
  package static let usual = 1...1_000_000

  /// Returns what is wrong with a flag's value; nil if it is in its range.
  package static func mistake(_ value: Int, _ flag: String, in range: ClosedRange<Int> = usual) -> String? {
    range.contains(value) ? nil : "\(flag) must be at least \(range.lowerBound) and at most \(range.upperBound)."
  }
}
