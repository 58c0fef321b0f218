import Groundwork

/// The curve of RFC 7748 and RFC 8032.
public enum Curve25519 {
  public enum KeyAgreement {
    public typealias PublicKey = Curve25519PublicKey<KeyAgreement>
    public typealias PrivateKey = Curve25519PrivateKey<KeyAgreement>
  }

  public enum Signing {
    public typealias PublicKey = Curve25519PublicKey<Signing>
    public typealias PrivateKey = Curve25519PrivateKey<Signing>
  }
}

/// What a key of Curve25519 is for.
public protocol Curve25519Use {
  /// The last byte of the algorithm's object identifier (RFC 8410).
  static var algorithm: UInt8 { get }
}

extension Curve25519.KeyAgreement: Curve25519Use {
  public static var algorithm: UInt8 { 0x6E }
}

extension Curve25519.Signing: Curve25519Use {
  public static var algorithm: UInt8 { 0x70 }
}

extension Curve25519Use {
  fileprivate static var identifier: [UInt8] { DER.value(DER.sequence, DER.value(DER.identifier, [0x2B, 0x65, algorithm])) }

  fileprivate static func checked<Bytes: ContiguousBytes>(_ bytes: Bytes) throws -> [UInt8] {
    let key = bytes.withUnsafeBytes { Array($0) }
    guard key.count == 32 else { throw CryptoKitError.incorrectKeySize }
    return key
  }
}

public struct Curve25519PublicKey<Use: Curve25519Use>: Sendable {
  fileprivate let bytes: [UInt8]

  public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
    bytes = try Use.checked(rawRepresentation)
  }

  public var rawRepresentation: Data { Data(bytes) }

  fileprivate var encoded: EncodedKey { EncodedKey(der: DER.value(DER.sequence, Use.identifier + DER.value(DER.bits, [0] + bytes))) }
}

public struct Curve25519PrivateKey<Use: Curve25519Use>: Sendable {
  fileprivate let bytes: [UInt8]
  public let publicKey: Curve25519PublicKey<Use>

  public init() {
    do {
      try self.init(rawRepresentation: randomBytes(32))
    } catch {
      preconditionFailure("OpenSSL 3 makes no key of Curve25519; install libssl3")
    }
  }

  public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
    bytes = try Use.checked(rawRepresentation)
    publicKey = try Curve25519PublicKey(rawRepresentation: Array(Self.encoded(bytes).publicHalf().der.suffix(32)))
  }

  public var rawRepresentation: Data { Data(bytes) }

  fileprivate static func encoded(_ bytes: [UInt8]) -> EncodedKey {
    let key = DER.value(DER.octets, DER.value(DER.octets, bytes))
    return EncodedKey(der: DER.value(DER.sequence, DER.value(DER.integer, [0]) + Use.identifier + key))
  }
}

extension Curve25519PrivateKey where Use == Curve25519.KeyAgreement {
  public func sharedSecretFromKeyAgreement(with publicKeyShare: Curve25519.KeyAgreement.PublicKey) throws -> SharedSecret {
    try Self.encoded(bytes).sharedSecret(with: publicKeyShare.encoded)
  }
}

extension Curve25519PrivateKey where Use == Curve25519.Signing {
  public func signature<Bytes: DataProtocol>(for data: Bytes) throws -> Data {
    Data(try Self.encoded(bytes).sign(Array(data)))
  }
}

extension Curve25519PublicKey where Use == Curve25519.Signing {
  public func isValidSignature<Signature: DataProtocol, Bytes: DataProtocol>(_ signature: Signature, for data: Bytes) -> Bool {
    encoded.verifies(Array(signature), of: Array(data))
  }
}
