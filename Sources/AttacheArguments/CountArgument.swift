internal import ArgumentParser

/// The bounds of a flag that counts something.
package enum CountArgument {
  /// From 1 to a million: beyond it nobody means what was written, and sums and products of such
  /// numbers stay far from any overflow.
  package static let range = 1...1_000_000

  /// - Throws: what tells the user the bounds.
  package static func check(_ value: Int, _ flag: String, in range: ClosedRange<Int> = Self.range) throws {
    guard range.contains(value) else {
      throw ValidationError("\(flag) must be at least \(range.lowerBound) and at most \(range.upperBound).")
    }
  }
}
