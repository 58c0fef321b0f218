import CExtensionRuntime
import Groundwork

/// A NIST curve (FIPS 186-5).
public protocol NISTCurve: Sendable {
  /// The number of bytes of a coordinate.
  static var coordinateCount: Int { get }
  /// The content of the curve's object identifier (RFC 5480).
  static var identifier: [UInt8] { get }
  /// The hash function with which data is signed.
  associatedtype Hash: HashFunction
}

public enum P256: NISTCurve {
  public typealias Hash = SHA256
  public static var coordinateCount: Int { 32 }
  public static var identifier: [UInt8] { [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07] }
}

public enum P384: NISTCurve {
  public typealias Hash = SHA384
  public static var coordinateCount: Int { 48 }
  public static var identifier: [UInt8] { [0x2B, 0x81, 0x04, 0x00, 0x22] }
}

public enum P521: NISTCurve {
  public typealias Hash = SHA512
  public static var coordinateCount: Int { 66 }
  public static var identifier: [UInt8] { [0x2B, 0x81, 0x04, 0x00, 0x23] }
}

/// What a key of a NIST curve is for.
public enum NISTSigning<Curve: NISTCurve>: Sendable {
  public typealias PublicKey = NISTPublicKey<Curve, NISTSigning>
  public typealias PrivateKey = NISTPrivateKey<Curve, NISTSigning>
  public typealias ECDSASignature = NISTSignature<Curve>
}

/// What a key of a NIST curve is for.
public enum NISTKeyAgreement<Curve: NISTCurve>: Sendable {
  public typealias PublicKey = NISTPublicKey<Curve, NISTKeyAgreement>
  public typealias PrivateKey = NISTPrivateKey<Curve, NISTKeyAgreement>
}

extension P256 {
  public typealias Signing = NISTSigning<P256>
  public typealias KeyAgreement = NISTKeyAgreement<P256>
}

extension P384 {
  public typealias Signing = NISTSigning<P384>
  public typealias KeyAgreement = NISTKeyAgreement<P384>
}

extension P521 {
  public typealias Signing = NISTSigning<P521>
  public typealias KeyAgreement = NISTKeyAgreement<P521>
}

extension NISTCurve {
  /// The algorithm and the curve of a key (RFC 5480).
  fileprivate static var algorithm: [UInt8] {
    let ellipticCurve: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    return DER.value(DER.sequence, DER.value(DER.identifier, ellipticCurve) + DER.value(DER.identifier, identifier))
  }

  /// Returns a public key (RFC 5480).
  ///
  /// - Parameter point: a point, compressed or not.
  fileprivate static func publicKey(_ point: [UInt8]) -> EncodedKey {
    EncodedKey(der: DER.value(DER.sequence, algorithm + DER.value(DER.bits, [0] + point)))
  }

  /// Returns a private key (RFC 5915, in RFC 5208).
  ///
  /// - Parameter point: the public key, which may be absent.
  fileprivate static func privateKey(_ scalar: [UInt8], _ point: [UInt8]?) -> EncodedKey {
    let publicPart = point.map { DER.value(0xA1, DER.value(DER.bits, [0] + $0)) } ?? []
    let key = DER.value(DER.sequence, DER.value(DER.integer, [1]) + DER.value(DER.octets, scalar) + publicPart)
    return EncodedKey(der: DER.value(DER.sequence, DER.value(DER.integer, [0]) + algorithm + DER.value(DER.octets, key)))
  }
}

public struct NISTPublicKey<Curve: NISTCurve, Use: Sendable>: Sendable {
  /// The byte 4 and both coordinates.
  fileprivate let point: [UInt8]

  fileprivate init(_ key: EncodedKey) throws {
    let der = try key.output { runtime_public_key($0, $1) }
    point = Array(der.suffix(2 * Curve.coordinateCount + 1))
    // A key of another curve has another beginning.
    guard Curve.publicKey(point).der == der else { throw CryptoKitError.invalidParameter }
  }

  public init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws {
    let point = x963Representation.withUnsafeBytes { Array($0) }
    guard point.count == 2 * Curve.coordinateCount + 1, point.first == 4 else { throw CryptoKitError.incorrectParameterSize }
    try self.init(Curve.publicKey(point))
  }

  public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
    try self.init(x963Representation: rawRepresentation.withUnsafeBytes { [4] + $0 })
  }

  public init<Bytes: ContiguousBytes>(compressedRepresentation: Bytes) throws {
    let point = compressedRepresentation.withUnsafeBytes { Array($0) }
    guard point.count == Curve.coordinateCount + 1 else { throw CryptoKitError.incorrectParameterSize }
    try self.init(Curve.publicKey(point))
  }

  public init<Bytes: RandomAccessCollection>(derRepresentation: Bytes) throws where Bytes.Element == UInt8 {
    try self.init(EncodedKey(der: Array(derRepresentation)))
  }

  public init(pemRepresentation: String) throws {
    try self.init(EncodedKey(der: PEM.der(pemRepresentation, ["PUBLIC KEY"])))
  }

  public var x963Representation: Data { Data(point) }
  public var rawRepresentation: Data { Data(point.dropFirst()) }
  public var compressedRepresentation: Data { Data([2 + point[point.count - 1] % 2] + point[1...Curve.coordinateCount]) }
  public var derRepresentation: Data { Data(encoded.der) }
  public var pemRepresentation: String { PEM.text("PUBLIC KEY", encoded.der) }

  fileprivate var encoded: EncodedKey { Curve.publicKey(point) }
}

public struct NISTPrivateKey<Curve: NISTCurve, Use: Sendable>: Sendable {
  private let scalar: [UInt8]
  public let publicKey: NISTPublicKey<Curve, Use>

  fileprivate init(_ key: EncodedKey) throws {
    publicKey = try NISTPublicKey(try key.publicHalf())
    // SEC 1: a sequence of the version, the scalar, and more.
    var bytes = try key.output { runtime_private_key($0, $1) }[...]
    guard var content = DER.take(DER.sequence, from: &bytes), DER.take(DER.integer, from: &content) != nil,
      let scalar = DER.take(DER.octets, from: &content), scalar.count == Curve.coordinateCount
    else { throw CryptoKitError.invalidParameter }
    self.scalar = Array(scalar)
  }

  /// - Parameter compactRepresentable: without effect: every key is made in the same way.
  public init(compactRepresentable: Bool = true) {
    // The order of P-521 has 521 bits. A number beyond the order is no key, and the next one is tried.
    let highest: UInt8 = Curve.coordinateCount == 66 ? 1 : .max
    for _ in 0..<128 {
      var bytes = randomBytes(Curve.coordinateCount)
      bytes[0] &= highest
      if let key = try? Self(rawRepresentation: bytes) {
        self = key
        return
      }
    }
    preconditionFailure("OpenSSL 3 makes no key of this curve; install libssl3")
  }

  public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
    let scalar = rawRepresentation.withUnsafeBytes { Array($0) }
    guard scalar.count == Curve.coordinateCount else { throw CryptoKitError.incorrectParameterSize }
    try self.init(Curve.privateKey(scalar, nil))
  }

  /// - Throws: ``CryptoKitError/invalidParameter`` if the point is not that of the scalar.
  public init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws {
    let bytes = x963Representation.withUnsafeBytes { Array($0) }
    guard bytes.count == 3 * Curve.coordinateCount + 1 else { throw CryptoKitError.incorrectParameterSize }
    try self.init(rawRepresentation: Array(bytes.suffix(Curve.coordinateCount)))
    guard publicKey.point == bytes.dropLast(Curve.coordinateCount) else { throw CryptoKitError.invalidParameter }
  }

  public init<Bytes: RandomAccessCollection>(derRepresentation: Bytes) throws where Bytes.Element == UInt8 {
    try self.init(EncodedKey(der: Array(derRepresentation)))
  }

  public init(pemRepresentation: String) throws {
    try self.init(EncodedKey(der: PEM.der(pemRepresentation, ["PRIVATE KEY", "EC PRIVATE KEY"])))
  }

  public var rawRepresentation: Data { Data(scalar) }
  public var x963Representation: Data { Data(publicKey.point + scalar) }
  public var derRepresentation: Data { Data(encoded.der) }
  public var pemRepresentation: String { PEM.text("PRIVATE KEY", encoded.der) }

  fileprivate var encoded: EncodedKey { Curve.privateKey(scalar, publicKey.point) }
}

extension NISTPrivateKey where Use == NISTKeyAgreement<Curve> {
  public func sharedSecretFromKeyAgreement(with publicKeyShare: NISTPublicKey<Curve, Use>) throws -> SharedSecret {
    try encoded.sharedSecret(with: publicKeyShare.encoded)
  }
}

extension NISTPrivateKey where Use == NISTSigning<Curve> {
  public func signature<Result: Digest>(for digest: Result) throws -> NISTSignature<Curve> {
    try NISTSignature(derRepresentation: encoded.sign(Array(digest)))
  }

  public func signature<Bytes: DataProtocol>(for data: Bytes) throws -> NISTSignature<Curve> {
    try signature(for: Curve.Hash.hash(data: data))
  }
}

extension NISTPublicKey where Use == NISTSigning<Curve> {
  public func isValidSignature<Result: Digest>(_ signature: NISTSignature<Curve>, for digest: Result) -> Bool {
    encoded.verifies(Array(signature.derRepresentation), of: Array(digest))
  }

  public func isValidSignature<Bytes: DataProtocol>(_ signature: NISTSignature<Curve>, for data: Bytes) -> Bool {
    isValidSignature(signature, for: Curve.Hash.hash(data: data))
  }
}

/// A signature of ECDSA.
public struct NISTSignature<Curve: NISTCurve>: ContiguousBytes, Sendable {
  /// Both numbers, each with as many bytes as a coordinate.
  public let rawRepresentation: Data

  public init<Bytes: DataProtocol>(rawRepresentation: Bytes) throws {
    guard rawRepresentation.count == 2 * Curve.coordinateCount else { throw CryptoKitError.incorrectParameterSize }
    self.rawRepresentation = Data(rawRepresentation)
  }

  public init<Bytes: DataProtocol>(derRepresentation: Bytes) throws {
    var bytes = Array(derRepresentation)[...]
    guard var content = DER.take(DER.sequence, from: &bytes), bytes.isEmpty, let first = DER.take(DER.integer, from: &content),
      let second = DER.take(DER.integer, from: &content), content.isEmpty
    else { throw CryptoKitError.invalidParameter }
    let numbers = [first, second].map { $0.drop { $0 == 0 } }
    guard numbers.allSatisfy({ $0.count <= Curve.coordinateCount }) else { throw CryptoKitError.invalidParameter }
    rawRepresentation = Data(numbers.flatMap { [UInt8](repeating: 0, count: Curve.coordinateCount - $0.count) + $0 })
  }

  public var derRepresentation: Data {
    let numbers = [rawRepresentation.prefix(Curve.coordinateCount), rawRepresentation.suffix(Curve.coordinateCount)]
    let integers = numbers.flatMap { number in
      let digits = number.drop { $0 == 0 }
      // A first bit of 1 would make the number negative.
      return DER.value(DER.integer, (digits.first.map { $0 >= 0x80 } ?? true ? [0] : []) + digits)
    }
    return Data(DER.value(DER.sequence, integers))
  }

  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try rawRepresentation.withUnsafeBytes(body)
  }
}

/// The textual encoding of keys (RFC 7468).
private enum PEM {
  static func text(_ label: String, _ der: [UInt8]) -> String {
    let lines = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    return "-----BEGIN \(label)-----\n\(lines)\n-----END \(label)-----"
  }

  static func der(_ text: String, _ labels: [String]) throws -> [UInt8] {
    let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
    for label in labels {
      guard let start = lines.firstIndex(of: "-----BEGIN \(label)-----"), let end = lines.firstIndex(of: "-----END \(label)-----"),
        start < end, let bytes = Data(base64Encoded: lines[(start + 1)..<end].joined())
      else { continue }
      return Array(bytes)
    }
    throw CryptoKitError.invalidParameter
  }
}
