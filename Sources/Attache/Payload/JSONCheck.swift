/// Says whether a text is JSON. It owns a parser, so it is used by one thread at a time.
package final class JSONCheck {
  private let parser = JSONParser()

  package init() {}

  /// Whether the bytes are one JSON value, of at most ``PayloadReader/maximumLineLength`` bytes.
  package func isJSON(_ bytes: [UInt8]) -> Bool {
    guard !bytes.isEmpty, bytes.count <= PayloadReader.maximumLineLength else { return false }
    let segment = Segment(copying: bytes, padding: JSONParser.padding)
    return unsafe segment.withUnsafeBytes { unsafe parser.parse($0) } != nil
  }
}
