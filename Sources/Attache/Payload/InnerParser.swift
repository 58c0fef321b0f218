/// Parses what is no line: JSON that stands in a string of a line, and payloads as a service makes
/// them.
final class InnerParser {
  /// A payload that a service makes of a line says hardly more than the line.
  private let parser = JSONParser(capacity: JSONParser.maximumLength + 4_096)

  /// Whether there was memory for the parser.
  var hasMemory: Bool { parser.hasMemory }

  /// The value, or nil when it is no JSON; valid until the next call.
  func parse(_ bytes: [UInt8]) -> JSONElement? {
    let padded = bytes + [UInt8](repeating: 0, count: JSONParser.padding)
    return unsafe padded.withUnsafeBytes { buffer in
      unsafe parser.parse(UnsafeRawBufferPointer(rebasing: buffer[..<bytes.count]))
    }
  }
}
