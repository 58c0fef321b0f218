/// Payloads that are added in one call.
struct EnqueueBatch: Sendable {
  /// The limits of a batch. The last line may exceed the limit of bytes.
  private static let (maximumPayloads, maximumBytes) = (4_096, 4 << 20)

  private(set) var payloads: [NewPayload] = []
  /// The total length of the lines.
  private(set) var bytes = 0
  /// The number of the last line, from 1.
  private(set) var lastLine = 0

  var isEmpty: Bool { payloads.isEmpty }
  var isFull: Bool { payloads.count >= Self.maximumPayloads || bytes >= Self.maximumBytes }

  mutating func append(_ payload: NewPayload, line: Int) {
    payloads.append(payload)
    bytes += payload.line.count
    lastLine = line
  }

  /// Appends the payloads of the next batch.
  ///
  /// - Returns: false if both together are larger than a batch. Then nothing changes.
  mutating func append(_ next: EnqueueBatch) -> Bool {
    guard !isEmpty else {
      self = next
      return true
    }
    guard payloads.count + next.payloads.count <= Self.maximumPayloads, bytes + next.bytes <= Self.maximumBytes else { return false }
    payloads += next.payloads
    bytes += next.bytes
    lastLine = next.lastLine
    return true
  }
}
