import CExtensionRuntime
@_exported import Groundwork

/// The result of a hash function.
public protocol Digest: Sequence, Hashable, ContiguousBytes, CustomStringConvertible, Sendable where Element == UInt8 {
  static var byteCount: Int { get }
}

/// A hash function of OpenSSL.
public protocol HashFunction: Sendable {
  associatedtype Digest: CryptoKit.Digest

  init()
  mutating func update(bufferPointer: UnsafeRawBufferPointer)
  func finalize() -> Digest

  /// OpenSSL's name.
  static var opensslName: String { get }
}

extension HashFunction {
  public static func hash<Bytes: DataProtocol>(data: Bytes) -> Digest {
    var hash = Self()
    hash.update(data: data)
    return hash.finalize()
  }

  public mutating func update<Bytes: DataProtocol>(data: Bytes) {
    Data(data).withUnsafeBytes { update(bufferPointer: $0) }
  }
}

/// The bytes of a digest of any function.
public struct DigestBytes<Function>: Digest {
  let bytes: [UInt8]

  public static var byteCount: Int { (Function.self as? any KnownSize.Type)?.size ?? 0 }
  public var description: String { "\(Function.self) digest: " + bytes.map { String(format: "%02x", $0) }.joined() }

  public func makeIterator() -> IndexingIterator<[UInt8]> {
    bytes.makeIterator()
  }

  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes(body)
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.bytes == right.bytes
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(bytes)
  }
}

protocol KnownSize {
  static var size: Int { get }
}

/// What all hash functions share. The data is gathered and hashed at the end.
struct Gathered: Sendable {
  var data = Data()

  func digest(_ name: String) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: 64)
    let count = data.withUnsafeBytes { runtime_digest(name, $0.baseAddress, $0.count, &output) }
    precondition(count > 0, "OpenSSL 3 has no \(name); install libssl3")
    return Array(output[..<count])
  }
}

public struct SHA256: HashFunction, KnownSize {
  public static let opensslName = "SHA256"
  static let size = 32
  private var gathered = Gathered()

  public init() {}

  public mutating func update(bufferPointer: UnsafeRawBufferPointer) { gathered.data.append(contentsOf: bufferPointer) }
  public func finalize() -> DigestBytes<SHA256> { DigestBytes(bytes: gathered.digest(Self.opensslName)) }
}

public struct SHA384: HashFunction, KnownSize {
  public static let opensslName = "SHA384"
  static let size = 48
  private var gathered = Gathered()

  public init() {}

  public mutating func update(bufferPointer: UnsafeRawBufferPointer) { gathered.data.append(contentsOf: bufferPointer) }
  public func finalize() -> DigestBytes<SHA384> { DigestBytes(bytes: gathered.digest(Self.opensslName)) }
}

public struct SHA512: HashFunction, KnownSize {
  public static let opensslName = "SHA512"
  static let size = 64
  private var gathered = Gathered()

  public init() {}

  public mutating func update(bufferPointer: UnsafeRawBufferPointer) { gathered.data.append(contentsOf: bufferPointer) }
  public func finalize() -> DigestBytes<SHA512> { DigestBytes(bytes: gathered.digest(Self.opensslName)) }
}

public typealias SHA256Digest = DigestBytes<SHA256>
public typealias SHA384Digest = DigestBytes<SHA384>
public typealias SHA512Digest = DigestBytes<SHA512>

public enum Insecure {
  public struct MD5: HashFunction, KnownSize {
    public static let opensslName = "MD5"
    static let size = 16
    private var gathered = Gathered()

    public init() {}

    public mutating func update(bufferPointer: UnsafeRawBufferPointer) { gathered.data.append(contentsOf: bufferPointer) }
    public func finalize() -> DigestBytes<MD5> { DigestBytes(bytes: gathered.digest(Self.opensslName)) }
  }

  public struct SHA1: HashFunction, KnownSize {
    public static let opensslName = "SHA1"
    static let size = 20
    private var gathered = Gathered()

    public init() {}

    public mutating func update(bufferPointer: UnsafeRawBufferPointer) { gathered.data.append(contentsOf: bufferPointer) }
    public func finalize() -> DigestBytes<SHA1> { DigestBytes(bytes: gathered.digest(Self.opensslName)) }
  }
}
