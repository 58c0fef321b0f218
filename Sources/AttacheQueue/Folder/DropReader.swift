internal import Attache

/// Parses dropped files. Not thread-safe: one thread at a time uses it.
struct DropReader {
  private let payloads = PayloadReader()
  private let deliveries: DeliveryReader
  private let options: EnqueueOptions
  private static let (lineFeed, carriageReturn, space) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: " "))

  init(_ options: EnqueueOptions) {
    self.options = options
    deliveries = DeliveryReader(payloadPath: options.payloadPath)
  }

  /// Returns the payload of a file: its bytes. A JSON object over several lines is put on one line.
  func read(_ bytes: [UInt8], name: String) -> NewPayload {
    let line = oneLine(bytes) ?? bytes
    var payload = NewPayload(line, envelope: deliveries.envelope(of: line), options)
    payload.key = options.key.key(of: line, number: 0, deliveries)
    payload.searchKey = options.searchKey.key(of: line, number: 0, deliveries)
    payload.name = name.isEmpty ? nil : name
    return payload
  }

  /// Returns a JSON object on one line. Returns nil when the object is on one line already, and for
  /// anything else.
  private func oneLine(_ bytes: [UInt8]) -> [UInt8]? {
    guard let first = bytes.firstIndex(of: Self.lineFeed), first < bytes.count - 1, isObject(bytes) else { return nil }
    let end = bytes.last == Self.lineFeed ? bytes.count - 1 : bytes.count
    var line = bytes
    // A JSON string contains neither of these bytes unescaped, so they are white space.
    for index in first..<end where line[index] == Self.lineFeed { line[index] = Self.space }
    for index in 0..<end where line[index] == Self.carriageReturn { line[index] = Self.space }
    return line
  }

  private func isObject(_ bytes: [UInt8]) -> Bool {
    guard bytes.count <= PayloadReader.maximumLineLength else { return false }
    let padded = bytes + [UInt8](repeating: 0, count: PayloadReader.padding)
    return unsafe padded.withUnsafeBytes { padded in
      switch unsafe payloads.read(UnsafeRawBufferPointer(rebasing: padded.prefix(bytes.count))) {
      case .passthrough(.nothing, .payloadSize, _), .invalid: false
      case .passthrough, .unopened, .candidates: true
      }
    }
  }
}
