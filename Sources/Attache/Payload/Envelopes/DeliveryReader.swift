/// Reads from one line after another what its envelope says of the delivery, for whoever queues
/// payloads.
///
/// It owns parsers, so it is used by one thread at a time.
package final class DeliveryReader {
  private let opener: LineOpener
  private let parser = JSONParser()

  /// - Parameter payloadPath: where the payload stands in the line; nil is the whole line, or where
  ///   the envelope of a push service has it.
  package init(payloadPath: JSONPointer? = nil) {
    opener = LineOpener(path: payloadPath, readsDelivery: true)
  }

  /// Makes sure that there was memory for the parsers, before the first line.
  ///
  /// - Throws: ``SystemError`` of `malloc`.
  package func checkMemory() throws(SystemError) {
    guard opener.hasMemory, parser.hasMemory else { throw .noMemory }
  }

  /// The envelope of a line, with what it says of the delivery, of several notifications what all
  /// say; nil when the line has none that is known.
  ///
  /// - Parameter line: with its ending.
  package func envelope(of line: [UInt8]) -> Envelope? {
    let segment = Segment(copying: line, padding: PayloadReader.padding)
    return unsafe segment.withUnsafeBytes { bytes in
      guard case .payload = unsafe opener.open(bytes) else { return nil }
      return opener.lineEnvelope
    }
  }

  /// What a number's or a boolean's value begins with, where a string's has its text.
  package static let valueMark: UInt8 = 0xFF

  /// What tells the value at a place of the line from any other: of a string what it says, of a
  /// number or a boolean 0xFF, which no text has, and how it is written. Nil when there is nothing,
  /// null, an empty string, an object or an array.
  ///
  /// - Parameter line: with its ending.
  package func value(at place: JSONPointer, of line: [UInt8]) -> [UInt8]? {
    guard line.count <= PayloadReader.maximumLineLength else { return nil }
    let json = line.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(line.dropFirst(3)) : line
    let segment = Segment(copying: json, padding: PayloadReader.padding)
    return unsafe segment.withUnsafeBytes { bytes in
      guard var value = unsafe parser.parse(bytes) else { return nil }
      var steps: [Int] = []
      for token in place.tokens {
        guard let child = value.child(token) else { return nil }
        value = child.element
        steps.append(child.place)
      }
      // From the line itself: the parser makes one of all halves of surrogate pairs, and a Double
      // one of many numbers.
      let source = JSONSource.range(in: json.span, places: steps)
      if value.isText { return JSONString.identity(json.span, source.withoutQuotes) }
      guard value.isNumber || value.isBoolean else { return nil }
      return [Self.valueMark] + json[source].prefix { !$0.isJSONSpace }
    }
  }
}
