package import Attache

/// A payload in an input: one line, or the lines of an object that spans several.
package struct InputPayload: Hashable, Sendable {
  /// The line where it begins, counted from 1.
  package var line: Int
  /// Its bytes without the last line ending; empty if there are more than
  /// ``PayloadReader/maximumLineLength``.
  package var bytes: [UInt8]
  /// The number of bytes in the input.
  package var length: Int
  /// Whether it spans several lines.
  package var isSpread: Bool

  package init(line: Int, bytes: [UInt8], isSpread: Bool = false) {
    self.line = line
    self.bytes = bytes
    length = bytes.count
    self.isSpread = isSpread
  }

  /// Creates a payload for a line that is too long to be kept.
  init(line: Int, length: Int) {
    (self.line, self.length, bytes, isSpread) = (line, length, [], false)
  }

  /// Returns the payload as one line, as a filter reads it: a pretty-printed one is sent compact.
  package func lineBytes(_ parser: JSONParser) -> [UInt8] {
    guard isSpread else { return bytes }
    guard parser.parse(copying: bytes) != nil else { return bytes.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 } }
    return JSONText(bytes).compact
  }
}
