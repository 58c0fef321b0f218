/// What a host sends to a process of a service extension. The frames are built as those of a
/// fetcher: a length in four bytes, a kind in one byte, and the content, in this machine's byte
/// order.
enum ExtensionFrame {
  /// The longest frame that a process may send, in bytes.
  static let maximumBytes = 1 << 20

  /// Appends the rules of the network, as JSON.
  static func appendSettings(_ json: [UInt8], to bytes: inout [UInt8]) {
    frame(1, &bytes) { $0.append(contentsOf: json) }
  }

  /// Appends a request.
  ///
  /// - Parameters:
  ///   - isReused: whether the instance of an earlier request serves it.
  ///   - payload: the payload's JSON.
  static func appendRequest(_ number: UInt64, isReused: Bool, identifier: String, payload: [UInt8], to bytes: inout [UInt8]) {
    frame(2, &bytes) { bytes in
      let name = identifier.utf8.prefix(Int(UInt16.max))
      put(number, &bytes)
      bytes.append(isReused ? 1 : 0)
      put(UInt16(name.count), &bytes)
      bytes.append(contentsOf: name)
      bytes.append(contentsOf: payload)
    }
  }

  /// Appends the notice that a request's time will expire.
  static func appendExpire(_ number: UInt64, to bytes: inout [UInt8]) {
    frame(3, &bytes) { put(number, &$0) }
  }

  /// Appends the notice that a request is decided.
  static func appendFinish(_ number: UInt64, to bytes: inout [UInt8]) {
    frame(4, &bytes) { put(number, &$0) }
  }

  private static func frame(_ kind: UInt8, _ bytes: inout [UInt8], _ body: (inout [UInt8]) -> Void) {
    let start = bytes.count
    put(UInt32(0), &bytes)
    bytes.append(kind)
    body(&bytes)
    let length = UInt32(bytes.count - start - FetcherFrame.headBytes)
    unsafe bytes.withUnsafeMutableBytes { unsafe $0.storeBytes(of: length, toByteOffset: start, as: UInt32.self) }
  }

  private static func put<Value: BitwiseCopyable>(_ value: Value, _ bytes: inout [UInt8]) {
    unsafe withUnsafeBytes(of: value) { unsafe bytes.append(contentsOf: $0) }
  }
}
