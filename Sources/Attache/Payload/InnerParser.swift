/// Parses JSON that is not a line itself: JSON in a string of a line, and payloads in the form that
/// a service sends.
final class InnerParser {
  /// A payload that a service builds from a line is hardly longer than the line.
  private let parser = JSONParser(capacity: JSONParser.maximumLength + 4_096)

  /// Whether memory for the parser could be allocated.
  var hasMemory: Bool { parser.hasMemory }

  /// Parses a value; nil if the bytes are not JSON. The result is valid until the next call.
  func parse(_ bytes: [UInt8]) -> JSONElement? {
    let padded = bytes + [UInt8](repeating: 0, count: JSONParser.padding)
    return unsafe padded.withUnsafeBytes { buffer in
      unsafe parser.parse(UnsafeRawBufferPointer(rebasing: buffer[..<bytes.count]))
    }
  }
}
