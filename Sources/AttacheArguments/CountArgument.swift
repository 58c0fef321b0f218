internal import ArgumentParser

/// The allowed range of a flag that counts something.
package enum CountArgument {
  /// From 1 to a million. Larger values are mistakes. Sums and products of a few numbers in this
  /// range are far from overflow.
  package static let range = 1...1_000_000

  /// Checks that a flag's value is in its range.
  ///
  /// - Throws: `ValidationError`, which names the range.
  package static func check(_ value: Int, _ flag: String, in range: ClosedRange<Int> = Self.range) throws {
    guard range.contains(value) else {
      throw ValidationError("\(flag) must be at least \(range.lowerBound) and at most \(range.upperBound).")
    }
  }
}
