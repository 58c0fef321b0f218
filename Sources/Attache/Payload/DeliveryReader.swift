/// Reads from one line after another what its envelope says of the delivery, for whoever queues payloads.
///
/// It owns parsers, so it is used by one thread at a time.
package final class DeliveryReader {
  private let opener: LineOpener
  private let parser = JSONParser(capacity: PayloadReader.maximumLineLength)

  /// - Parameter payloadPath: where the payload stands in the line; nil is the whole line, or where the envelope of a push service has it.
  package init(payloadPath: JSONPointer? = nil) {
    opener = LineOpener(path: payloadPath, readsDelivery: true)
  }

  /// Makes sure that there was memory for the parsers, before the first line.
  ///
  /// - Throws: ``SystemError`` of `malloc`.
  package func checkMemory() throws(SystemError) {
    guard opener.hasMemory, parser.hasMemory else { throw .noMemory }
  }

  /// The envelope of a line, with what it says of the delivery; nil when the line has none that is known.
  ///
  /// - Parameter line: with its ending.
  package func envelope(of line: [UInt8]) -> Envelope? {
    let segment = Segment(copying: line, padding: PayloadReader.padding)
    return unsafe segment.withUnsafeBytes { bytes in
      guard case .payload = unsafe opener.open(bytes) else { return nil }
      return opener.envelope
    }
  }

  /// What stands at a place of the line, as its text or as it is written; nil when there is nothing, or null.
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
      if let text = value.text { return Array(text.utf8) }
      // As it stands in the line: two numbers that a Double cannot tell apart are two.
      if value.isNumber { return Array(json[JSONSource.range(in: json.span, places: steps)].prefix { !$0.isJSONSpace }) }
      return value.boolean.map { Array(String($0).utf8) }
    }
  }
}
