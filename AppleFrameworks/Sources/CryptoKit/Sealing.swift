import CExtensionRuntime
import Groundwork

/// A cipher with authentication.
public protocol AuthenticatedCipher: Sendable {
  /// How many bytes a nonce may have.
  static var nonceCounts: ClosedRange<Int> { get }

  /// Returns OpenSSL's name of the cipher.
  ///
  /// - Returns: nil if the cipher has no key of this size.
  static func opensslName(keyBitCount: Int) -> String?
}

/// The number that is used once with a key.
public struct CipherNonce<Cipher: AuthenticatedCipher>: ContiguousBytes, Sequence, Sendable {
  let bytes: [UInt8]

  public init() {
    bytes = randomBytes(12)
  }

  public init<Bytes: DataProtocol>(data: Bytes) throws {
    guard Cipher.nonceCounts.contains(data.count) else { throw CryptoKitError.incorrectParameterSize }
    bytes = Array(data)
  }

  public func makeIterator() -> IndexingIterator<[UInt8]> {
    bytes.makeIterator()
  }

  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes(body)
  }
}

/// What a cipher makes of a message.
public struct CipherSealedBox<Cipher: AuthenticatedCipher>: Sendable {
  public let nonce: CipherNonce<Cipher>
  public let ciphertext: Data
  public let tag: Data

  public init<Ciphertext: DataProtocol, Tag: DataProtocol>(nonce: CipherNonce<Cipher>, ciphertext: Ciphertext, tag: Tag) throws {
    guard tag.count == 16 else { throw CryptoKitError.incorrectParameterSize }
    (self.nonce, self.ciphertext, self.tag) = (nonce, Data(ciphertext), Data(tag))
  }

  public init<Bytes: DataProtocol>(combined: Bytes) throws {
    let bytes = Array(combined)
    guard bytes.count >= 28 else { throw CryptoKitError.incorrectParameterSize }
    try self.init(nonce: CipherNonce(data: bytes[..<12]), ciphertext: bytes[12..<bytes.count - 16], tag: bytes[(bytes.count - 16)...])
  }

  /// The nonce, the encrypted bytes and the tag.
  var joined: Data { Data(nonce.bytes) + ciphertext + tag }
}

extension AuthenticatedCipher {
  public static func seal<Plaintext: DataProtocol>(
    _ message: Plaintext, using key: SymmetricKey, nonce: CipherNonce<Self>? = nil
  ) throws -> CipherSealedBox<Self> {
    try seal(message, using: key, nonce: nonce, authenticating: [UInt8]())
  }

  public static func seal<Plaintext: DataProtocol, More: DataProtocol>(
    _ message: Plaintext, using key: SymmetricKey, nonce: CipherNonce<Self>? = nil, authenticating authenticatedData: More
  ) throws -> CipherSealedBox<Self> {
    let nonce = nonce ?? CipherNonce()
    var tag = [UInt8](repeating: 0, count: 16)
    let ciphertext = try run(encrypts: true, key, nonce, Array(authenticatedData), Array(message), &tag)
    return try CipherSealedBox(nonce: nonce, ciphertext: ciphertext, tag: tag)
  }

  public static func open(_ sealedBox: CipherSealedBox<Self>, using key: SymmetricKey) throws -> Data {
    try open(sealedBox, using: key, authenticating: [UInt8]())
  }

  /// - Throws: ``CryptoKitError/authenticationFailure`` for another key, or changed bytes.
  public static func open<More: DataProtocol>(
    _ sealedBox: CipherSealedBox<Self>, using key: SymmetricKey, authenticating authenticatedData: More
  ) throws -> Data {
    var tag = Array(sealedBox.tag)
    return Data(try run(encrypts: false, key, sealedBox.nonce, Array(authenticatedData), Array(sealedBox.ciphertext), &tag))
  }

  /// - Parameter tag: receives the tag when it encrypts, and is checked when it decrypts.
  private static func run(
    encrypts: Bool, _ key: SymmetricKey, _ nonce: CipherNonce<Self>, _ more: [UInt8], _ input: [UInt8], _ tag: inout [UInt8]
  ) throws -> [UInt8] {
    guard let cipher = opensslName(keyBitCount: key.bitCount) else { throw CryptoKitError.incorrectKeySize }
    // OpenSSL may write a block more than it needs.
    var output = [UInt8](repeating: 0, count: input.count + 32)
    let isDone = runtime_aead(
      cipher, encrypts, key.bytes, nonce.bytes, nonce.bytes.count, more, more.count, input, input.count, &output, &tag)
    guard isDone else { throw CryptoKitError.authenticationFailure }
    return Array(output[..<input.count])
  }
}

/// AES with authentication (NIST SP 800-38D).
public enum AES {
  public enum GCM: AuthenticatedCipher {
    public typealias Nonce = CipherNonce<GCM>
    public typealias SealedBox = CipherSealedBox<GCM>

    public static var nonceCounts: ClosedRange<Int> { 12...128 }

    public static func opensslName(keyBitCount: Int) -> String? {
      [128, 192, 256].contains(keyBitCount) ? "aes-\(keyBitCount)-gcm" : nil
    }
  }
}

extension CipherSealedBox where Cipher == AES.GCM {
  /// The nonce, the encrypted bytes and the tag; nil if the nonce has more than 12 bytes.
  public var combined: Data? { nonce.bytes.count == 12 ? joined : nil }
}

/// ChaCha20 with Poly1305 (RFC 8439).
public enum ChaChaPoly: AuthenticatedCipher {
  public typealias Nonce = CipherNonce<ChaChaPoly>
  public typealias SealedBox = CipherSealedBox<ChaChaPoly>

  public static var nonceCounts: ClosedRange<Int> { 12...12 }

  public static func opensslName(keyBitCount: Int) -> String? {
    keyBitCount == 256 ? "chacha20-poly1305" : nil
  }
}

extension CipherSealedBox where Cipher == ChaChaPoly {
  /// The nonce, the encrypted bytes and the tag.
  public var combined: Data { joined }
}
