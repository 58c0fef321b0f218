/// Bytes for the other end of a connection or a pipe, which takes them little by little.
package struct UnsentBytes {
  private var bytes: [UInt8] = []
  private var sent = 0

  package init() {}

  package var count: Int { bytes.count - sent }

  package mutating func append(_ body: (inout [UInt8]) -> Void) {
    body(&bytes)
  }

  /// Sends as much as the other end takes at the moment.
  ///
  /// - Parameter write: sends bytes. Returns how many were taken; nil when none ever will be.
  /// - Returns: false when `write` returned nil.
  package mutating func flush(_ write: (UnsafeRawBufferPointer) -> Int?) -> Bool {
    while sent < bytes.count {
      guard let count = unsafe bytes.withUnsafeBytes({ unsafe write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }) else { return false }
      sent += count
      // Sent bytes are removed even when there are always more to send.
      if sent >= 1 << 16, sent * 2 >= bytes.count {
        bytes.removeFirst(sent)
        sent = 0
      }
      if count == 0 { return true }
    }
    bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 18)
    sent = 0
    return true
  }
}
