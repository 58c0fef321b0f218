/// Checks whether a text is JSON. It owns a parser, so only one thread at a time may use it.
package final class JSONCheck {
  private let parser: JSONParser

  /// - Parameter capacity: the longest text, in bytes.
  package init(capacity: Int = JSONParser.maximumLength) {
    parser = JSONParser(capacity: capacity)
  }

  /// Returns whether the bytes are one JSON value that is not longer than the capacity.
  package func isJSON(_ bytes: [UInt8]) -> Bool {
    parser.parse(copying: bytes) != nil
  }
}
