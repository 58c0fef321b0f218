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
    let segment = Segment(copying: line, padding: PayloadReader.padding)
    return unsafe segment.withUnsafeBytes { bytes in
      guard let value = unsafe parser.parse(bytes)?.value(at: place.tokens), value.isPresent else { return nil }
      if let text = value.text { return Array(text.utf8) }
      if let integer = value.integer { return Array(String(integer).utf8) }
      if let number = value.number { return Array(String(number).utf8) }
      return value.boolean.map { Array(String($0).utf8) }
    }
  }
}
