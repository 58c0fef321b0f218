/// Reads the delivery information in the envelopes of one line after another, for queues of
/// payloads.
///
/// A reader owns parsers, so only one thread at a time may use it.
package final class DeliveryReader {
  private let opener: LineOpener
  private let parser = JSONParser()

  /// - Parameter payloadPath: the place of the payload in the line; nil means the whole line, or
  ///   the place that a push service's envelope defines.
  package init(payloadPath: JSONPointer? = nil) {
    opener = LineOpener(path: payloadPath, readsDelivery: true)
  }

  /// Checks that memory for the parsers could be allocated. Call it before the first line.
  ///
  /// - Throws: ``SystemError`` of `malloc`.
  package func checkMemory() throws(SystemError) {
    guard opener.hasMemory, parser.hasMemory else { throw .noMemory }
  }

  /// Returns the envelope of a line with its delivery information; nil if the line has no known
  /// envelope. For several notifications, it contains the values that they all share.
  ///
  /// - Parameter line: the line with its line ending.
  package func envelope(of line: [UInt8]) -> Envelope? {
    let segment = Segment(copying: line, padding: PayloadReader.padding)
    return unsafe segment.withUnsafeBytes { bytes in
      guard case .payload = unsafe opener.open(bytes) else { return nil }
      return opener.lineEnvelope
    }
  }

  /// The first byte of the result for a number or a boolean. The result for a string begins with
  /// its text.
  package static let valueMark: UInt8 = 0xFF

  /// Returns bytes that identify the value at a place in the line: for a string its text, for a
  /// number or a boolean 0xFF, which no text contains, and its source. Nil if the value is missing,
  /// null, an empty string, an object or an array.
  ///
  /// - Parameter line: the line with its line ending.
  package func value(at place: JSONPointer, of line: [UInt8]) -> [UInt8]? {
    guard let source = source(at: place, of: line) else { return nil }
    return source.first == UInt8(ascii: "\"") ? JSONString.identity(source.span, source.indices.withoutQuotes) : [Self.valueMark] + source
  }

  /// Returns the source of the value at a place in the line: JSON. Nil if the value is missing, null,
  /// an empty string, an object or an array.
  ///
  /// - Parameter line: the line with its line ending.
  func source(at place: JSONPointer, of line: [UInt8]) -> [UInt8]? {
    guard line.count <= PayloadReader.maximumLineLength else { return nil }
    let json = line.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(line.dropFirst(3)) : line
    guard var value = parser.parse(copying: json) else { return nil }
    var steps: [Int] = []
    for token in place.tokens {
      guard let child = value.child(token) else { return nil }
      value = child.element
      steps.append(child.place)
    }
    // Read the source of the value: the parser maps all lone surrogates to the same character, a
    // Double maps many numbers to one, and numbers out of its range are null to the parser.
    let source = json[json.span.rangeOfValue(at: steps)]
    guard let first = source.first, value.isText || first.decimalDigit != nil || "-tf".utf8.contains(first) else { return nil }
    return Array(source)
  }
}
