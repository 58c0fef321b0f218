import CExtensionRuntime
import Groundwork

public enum CryptoKitError: Error, Equatable {
  case incorrectKeySize
  case incorrectParameterSize
  case authenticationFailure
  case underlyingCoreCryptoError(error: Int32)
  case wrapFailure
  case unwrapFailure
  case invalidParameter
}

public struct SymmetricKeySize: Sendable {
  public let bitCount: Int

  public init(bitCount: Int) {
    self.bitCount = bitCount
  }

  public static let bits128 = SymmetricKeySize(bitCount: 128)
  public static let bits192 = SymmetricKeySize(bitCount: 192)
  public static let bits256 = SymmetricKeySize(bitCount: 256)
}

public struct SymmetricKey: ContiguousBytes, Equatable, Sendable {
  let bytes: [UInt8]

  public init<Bytes: ContiguousBytes>(data: Bytes) {
    bytes = data.withUnsafeBytes { Array($0) }
  }

  public init(size: SymmetricKeySize) {
    bytes = randomBytes(size.bitCount / 8)
  }

  public var bitCount: Int { bytes.count * 8 }

  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes(body)
  }
}

func randomBytes(_ count: Int) -> [UInt8] {
  var generator = SystemRandomNumberGenerator()
  return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
}

func hmac(_ name: String, _ key: [UInt8], _ data: [UInt8]) -> [UInt8] {
  var output = [UInt8](repeating: 0, count: 64)
  let count = runtime_hmac(name, key, key.count, data, data.count, &output)
  precondition(count > 0, "OpenSSL 3 has no \(name); install libssl3")
  return Array(output[..<count])
}

public struct HashedAuthenticationCode<Function: HashFunction>: Sequence, ContiguousBytes, Equatable, CustomStringConvertible, Sendable {
  let bytes: [UInt8]

  public var description: String { "HMAC: " + bytes.map { String(format: "%02x", $0) }.joined() }

  public func makeIterator() -> IndexingIterator<[UInt8]> {
    bytes.makeIterator()
  }

  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes(body)
  }
}

public struct HMAC<Function: HashFunction>: Sendable {
  public typealias MAC = HashedAuthenticationCode<Function>
  private let key: SymmetricKey
  private var data = Data()

  public init(key: SymmetricKey) {
    self.key = key
  }

  public mutating func update<Bytes: DataProtocol>(data: Bytes) {
    self.data.append(contentsOf: data)
  }

  public func finalize() -> MAC {
    Self.authenticationCode(for: data, using: key)
  }

  public static func authenticationCode<Bytes: DataProtocol>(for data: Bytes, using key: SymmetricKey) -> MAC {
    MAC(bytes: hmac(Function.opensslName, key.bytes, Array(data)))
  }

  public static func isValidAuthenticationCode<Code: ContiguousBytes, Bytes: DataProtocol>(
    _ code: Code, authenticating data: Bytes, using key: SymmetricKey
  ) -> Bool {
    let (given, right) = (code.withUnsafeBytes { Array($0) }, authenticationCode(for: data, using: key).bytes)
    // Takes the same time wherever the codes differ.
    return given.count == right.count && zip(given, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

/// Derives keys (RFC 5869).
public enum HKDF<Function: HashFunction> {
  public static func deriveKey<Salt: DataProtocol, Info: DataProtocol>(
    inputKeyMaterial: SymmetricKey, salt: Salt, info: Info, outputByteCount: Int
  ) -> SymmetricKey {
    expand(pseudoRandomKey: extract(inputKeyMaterial: inputKeyMaterial, salt: salt), info: info, outputByteCount: outputByteCount)
  }

  public static func deriveKey<Info: DataProtocol>(inputKeyMaterial: SymmetricKey, info: Info, outputByteCount: Int) -> SymmetricKey {
    deriveKey(inputKeyMaterial: inputKeyMaterial, salt: [UInt8](), info: info, outputByteCount: outputByteCount)
  }

  public static func deriveKey<Salt: DataProtocol>(inputKeyMaterial: SymmetricKey, salt: Salt, outputByteCount: Int) -> SymmetricKey {
    deriveKey(inputKeyMaterial: inputKeyMaterial, salt: salt, info: [UInt8](), outputByteCount: outputByteCount)
  }

  public static func extract<Salt: DataProtocol>(inputKeyMaterial: SymmetricKey, salt: Salt?) -> HashedAuthenticationCode<Function> {
    HashedAuthenticationCode(bytes: hmac(Function.opensslName, salt.map { Array($0) } ?? [], inputKeyMaterial.bytes))
  }

  public static func expand<Key: ContiguousBytes, Info: DataProtocol>(
    pseudoRandomKey: Key, info: Info?, outputByteCount: Int
  ) -> SymmetricKey {
    let key = pseudoRandomKey.withUnsafeBytes { Array($0) }
    var (output, block, counter) = ([UInt8](), [UInt8](), UInt8(1))
    while output.count < outputByteCount {
      block = hmac(Function.opensslName, key, block + (info.map { Array($0) } ?? []) + [counter])
      output += block
      guard counter < .max else { break }
      counter += 1
    }
    return SymmetricKey(data: output.prefix(outputByteCount))
  }
}
