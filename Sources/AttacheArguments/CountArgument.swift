internal import ArgumentParser
internal import Attache

/// A flag that counts something.
package enum CountArgument {
  /// Checks that a flag's value is in its range.
  ///
  /// - Throws: `ValidationError`, which names the range.
  package static func check(_ value: Int, _ flag: String, in range: ClosedRange<Int> = CountRange.usual) throws {
    if let mistake = CountRange.mistake(value, flag, in: range) { throw ValidationError(mistake) }
  }
}
