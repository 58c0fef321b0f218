import Groundwork

/// A secret that two parties share.
public struct SharedSecret: ContiguousBytes, Hashable, CustomStringConvertible, Sendable {
  let bytes: [UInt8]

  public var description: String { "SharedSecret: " + bytes.map { String(format: "%02x", $0) }.joined() }

  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes(body)
  }

  public func hkdfDerivedSymmetricKey<Function: HashFunction, Salt: DataProtocol, Info: DataProtocol>(
    using hashFunction: Function.Type, salt: Salt, sharedInfo: Info, outputByteCount: Int
  ) -> SymmetricKey {
    HKDF<Function>.deriveKey(inputKeyMaterial: SymmetricKey(data: bytes), salt: salt, info: sharedInfo, outputByteCount: outputByteCount)
  }

  /// Derives a key as ANSI X9.63 does: from the digests of the secret, a counter and `sharedInfo`.
  public func x963DerivedSymmetricKey<Function: HashFunction, Info: DataProtocol>(
    using hashFunction: Function.Type, sharedInfo: Info, outputByteCount: Int
  ) -> SymmetricKey {
    var (output, counter) = ([UInt8](), UInt32(1))
    while output.count < outputByteCount {
      output += Function.hash(data: bytes + Swift.withUnsafeBytes(of: counter.bigEndian) { Array($0) } + Array(sharedInfo))
      counter += 1
    }
    return SymmetricKey(data: output.prefix(outputByteCount))
  }
}
