/// One payload as it stands in an input: a line, or the lines over which one object spreads.
package struct InputPayload: Hashable, Sendable {
  /// Where it begins, counted from 1.
  package var line: Int
  /// Its bytes without the last line ending; empty when there are more than
  /// ``PayloadReader/maximumLineLength``.
  package var bytes: [UInt8]
  /// The bytes that stand in the input.
  package var length: Int
  /// Whether it spreads over several lines.
  package var isSpread: Bool

  package init(line: Int, bytes: [UInt8], isSpread: Bool = false) {
    self.line = line
    self.bytes = bytes
    length = bytes.count
    self.isSpread = isSpread
  }

  /// A line that is too long to be held.
  init(line: Int, length: Int) {
    (self.line, self.length, bytes, isSpread) = (line, length, [], false)
  }
}
