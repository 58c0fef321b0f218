import CGroundwork

/// Encryption with authentication.
enum Sealing {
  /// - Parameter tag: receives the tag when it encrypts, and is checked when it decrypts.
  static func run(
    _ cipher: String, _ encrypts: Bool, _ key: [UInt8], _ nonce: [UInt8], _ more: [UInt8], _ input: [UInt8], _ tag: inout [UInt8]
  ) throws -> [UInt8] {
    // OpenSSL may write a block more than it needs.
    var output = [UInt8](repeating: 0, count: input.count + 32)
    let isDone = groundwork_aead(cipher, encrypts, key, nonce, nonce.count, more, more.count, input, input.count, &output, &tag)
    guard isDone else { throw CryptoKitError.authenticationFailure }
    return Array(output[..<input.count])
  }
}
