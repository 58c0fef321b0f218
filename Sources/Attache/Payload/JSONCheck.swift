/// Checks whether a text is JSON. It owns a parser, so only one thread at a time may use it.
package final class JSONCheck {
  private let parser = JSONParser()

  package init() {}

  /// Returns whether the bytes are one JSON value of at most ``PayloadReader/maximumLineLength``
  /// bytes.
  package func isJSON(_ bytes: [UInt8]) -> Bool {
    bytes.count <= PayloadReader.maximumLineLength && parser.parse(copying: bytes) != nil
  }
}
