import CExtensionRuntime

/// The encoding of keys and signatures (ITU-T X.690).
enum DER {
  static let (integer, bits, octets, identifier, sequence) = (UInt8(0x02), UInt8(0x03), UInt8(0x04), UInt8(0x06), UInt8(0x30))

  /// Writes a value of at most 65,535 bytes.
  static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    let length: [UInt8] =
      switch content.count {
      case ..<0x80: [UInt8(content.count)]
      case ..<0x100: [0x81, UInt8(content.count)]
      default: [0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)]
      }
    return [tag] + length + content
  }

  /// Removes a value from the front of `bytes`.
  ///
  /// - Returns: its content; nil if another value is there.
  static func take(_ tag: UInt8, from bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard bytes.popFirst() == tag, let first = bytes.popFirst() else { return nil }
    var count = Int(first)
    if first >= 0x80 {
      // Keys and signatures are shorter than 64 KiB.
      guard (0x81...0x82).contains(first), bytes.count >= Int(first & 0x7F) else { return nil }
      count = bytes.prefix(Int(first & 0x7F)).reduce(0) { $0 << 8 | Int($1) }
      bytes = bytes.dropFirst(Int(first & 0x7F))
    }
    guard bytes.count >= count else { return nil }
    defer { bytes = bytes.dropFirst(count) }
    return bytes.prefix(count)
  }
}

/// A key as DER, which libcrypto reads.
struct EncodedKey: Hashable, Sendable {
  let der: [UInt8]

  /// Calls `body` with the key.
  func with<Result>(_ body: (runtime_key) throws -> Result) rethrows -> Result {
    try der.withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else { preconditionFailure("a key has bytes") }
      return try body(runtime_key(der: base, count: buffer.count))
    }
  }

  /// Returns what `body` writes to a buffer.
  ///
  /// - Throws: ``CryptoKitError/invalidParameter`` if it writes nothing.
  func output(_ body: (runtime_key, UnsafeMutablePointer<UInt8>) -> Int) throws -> [UInt8] {
    var output = [UInt8](repeating: 0, count: Int(runtime_maximum_key))
    let count = with { body($0, &output) }
    guard count > 0 else { throw CryptoKitError.invalidParameter }
    return Array(output[..<count])
  }

  func publicHalf() throws -> EncodedKey {
    EncodedKey(der: try output { runtime_public_half($0, $1) })
  }

  func sharedSecret(with other: EncodedKey) throws -> SharedSecret {
    SharedSecret(bytes: try output { own, secret in other.with { runtime_agree(own, $0, secret) } })
  }

  func sign(_ data: [UInt8]) throws -> [UInt8] {
    try output { runtime_sign($0, data, data.count, $1) }
  }

  func verifies(_ signature: [UInt8], of data: [UInt8]) -> Bool {
    with { runtime_verify($0, data, data.count, signature, signature.count) }
  }
}
