import CGroundwork
import Groundwork

/// A secret that two parties share.
public struct SharedSecret: ContiguousBytes, Equatable, Sendable {
  let bytes: [UInt8]

  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes(body)
  }

  public func hkdfDerivedSymmetricKey<Function: HashFunction, Salt: DataProtocol, Info: DataProtocol>(
    using hashFunction: Function.Type, salt: Salt, sharedInfo: Info, outputByteCount: Int
  ) -> SymmetricKey {
    HKDF<Function>.deriveKey(inputKeyMaterial: SymmetricKey(data: bytes), salt: salt, info: sharedInfo, outputByteCount: outputByteCount)
  }
}

/// The curve of RFC 7748 and RFC 8032.
public enum Curve25519 {
  public enum KeyAgreement {
    public struct PublicKey: Sendable {
      public let rawRepresentation: Data

      public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
        self.rawRepresentation = Data(try rawKey(rawRepresentation))
      }
    }

    public struct PrivateKey: Sendable {
      private let bytes: [UInt8]

      public init() {
        bytes = randomBytes(32)
      }

      public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
        bytes = try rawKey(rawRepresentation)
      }

      public var rawRepresentation: Data { Data(bytes) }

      public var publicKey: PublicKey {
        var key = [UInt8](repeating: 0, count: 32)
        _ = groundwork_public_key(false, bytes, &key)
        do { return try PublicKey(rawRepresentation: key) } catch { preconditionFailure("a key of 32 bytes is one") }
      }

      public func sharedSecretFromKeyAgreement(with publicKeyShare: PublicKey) throws -> SharedSecret {
        var secret = [UInt8](repeating: 0, count: 32)
        guard groundwork_agree(bytes, Array(publicKeyShare.rawRepresentation), &secret) else {
          throw CryptoKitError.underlyingCoreCryptoError(error: -1)
        }
        return SharedSecret(bytes: secret)
      }
    }
  }

  public enum Signing {
    public struct PublicKey: Sendable {
      public let rawRepresentation: Data

      public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
        self.rawRepresentation = Data(try rawKey(rawRepresentation))
      }

      public func isValidSignature<Signature: DataProtocol, Bytes: DataProtocol>(_ signature: Signature, for data: Bytes) -> Bool {
        guard signature.count == 64 else { return false }
        let message = Array(data)
        return groundwork_verify(Array(rawRepresentation), message, message.count, Array(signature))
      }
    }

    public struct PrivateKey: Sendable {
      private let bytes: [UInt8]

      public init() {
        bytes = randomBytes(32)
      }

      public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
        bytes = try rawKey(rawRepresentation)
      }

      public var rawRepresentation: Data { Data(bytes) }

      public var publicKey: PublicKey {
        var key = [UInt8](repeating: 0, count: 32)
        _ = groundwork_public_key(true, bytes, &key)
        do { return try PublicKey(rawRepresentation: key) } catch { preconditionFailure("a key of 32 bytes is one") }
      }

      public func signature<Bytes: DataProtocol>(for data: Bytes) throws -> Data {
        let message = Array(data)
        var signature = [UInt8](repeating: 0, count: 64)
        guard groundwork_sign(bytes, message, message.count, &signature) else {
          throw CryptoKitError.underlyingCoreCryptoError(error: -1)
        }
        return Data(signature)
      }
    }
  }
}

private func rawKey<Bytes: ContiguousBytes>(_ bytes: Bytes) throws -> [UInt8] {
  let key = bytes.withUnsafeBytes { Array($0) }
  guard key.count == 32 else { throw CryptoKitError.incorrectKeySize }
  return key
}
