import CGroundwork
import Groundwork

/// AES with authentication (NIST SP 800-38D).
public enum AES {
  public enum GCM {
    public struct Nonce: ContiguousBytes, Sequence, Sendable {
      let bytes: [UInt8]

      public init() {
        bytes = randomBytes(12)
      }

      public init<Bytes: DataProtocol>(data: Bytes) throws {
        guard (12...128).contains(data.count) else { throw CryptoKitError.incorrectParameterSize }
        bytes = Array(data)
      }

      public func makeIterator() -> IndexingIterator<[UInt8]> {
        bytes.makeIterator()
      }

      public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
      }
    }

    public struct SealedBox: Sendable {
      public let nonce: Nonce
      public let ciphertext: Data
      public let tag: Data

      /// The nonce, the encrypted bytes and the tag.
      public var combined: Data? { Data(nonce.bytes) + ciphertext + tag }

      public init<Ciphertext: DataProtocol, Tag: DataProtocol>(nonce: Nonce, ciphertext: Ciphertext, tag: Tag) throws {
        guard tag.count == 16 else { throw CryptoKitError.incorrectParameterSize }
        (self.nonce, self.ciphertext, self.tag) = (nonce, Data(ciphertext), Data(tag))
      }

      public init<Bytes: DataProtocol>(combined: Bytes) throws {
        let bytes = Array(combined)
        guard bytes.count >= 28 else { throw CryptoKitError.incorrectParameterSize }
        try self.init(nonce: Nonce(data: bytes[..<12]), ciphertext: bytes[12..<bytes.count - 16], tag: bytes[(bytes.count - 16)...])
      }
    }

    public static func seal<Plaintext: DataProtocol>(_ message: Plaintext, using key: SymmetricKey, nonce: Nonce? = nil) throws -> SealedBox
    {
      try seal(message, using: key, nonce: nonce, authenticating: [UInt8]())
    }

    public static func seal<Plaintext: DataProtocol, More: DataProtocol>(
      _ message: Plaintext, using key: SymmetricKey, nonce: Nonce? = nil, authenticating authenticatedData: More
    ) throws -> SealedBox {
      let nonce = nonce ?? Nonce()
      var tag = [UInt8](repeating: 0, count: 16)
      let ciphertext = try Sealing.run(try cipher(key), true, key.bytes, nonce.bytes, Array(authenticatedData), Array(message), &tag)
      return try SealedBox(nonce: nonce, ciphertext: ciphertext, tag: tag)
    }

    public static func open(_ sealedBox: SealedBox, using key: SymmetricKey) throws -> Data {
      try open(sealedBox, using: key, authenticating: [UInt8]())
    }

    /// - Throws: ``CryptoKitError/authenticationFailure`` for another key, or changed bytes.
    public static func open<More: DataProtocol>(
      _ sealedBox: SealedBox, using key: SymmetricKey, authenticating authenticatedData: More
    ) throws -> Data {
      var tag = Array(sealedBox.tag)
      return Data(
        try Sealing.run(
          try cipher(key), false, key.bytes, sealedBox.nonce.bytes, Array(authenticatedData), Array(sealedBox.ciphertext), &tag))
    }

    private static func cipher(_ key: SymmetricKey) throws -> String {
      guard [128, 192, 256].contains(key.bitCount) else { throw CryptoKitError.incorrectKeySize }
      return "aes-\(key.bitCount)-gcm"
    }
  }
}
