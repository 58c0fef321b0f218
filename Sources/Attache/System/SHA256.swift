internal import COpenSSL

/// The SHA-256 of bytes (FIPS 180-4), by the libcrypto that libcurl loads anyway.
///
/// It uses libcrypto's own functions for this hash. Those of `EVP` do the same, but allocate memory
/// for each hash, and can fail.
@safe
package struct SHA256 {
  /// The 32 bytes of a hash.
  package struct Digest: Hashable, Sendable {
    /// The bytes as four words, each with its bytes in memory as they come.
    let words: SIMD4<UInt64>

    /// The 32 bytes, in their order.
    package var bytes: [UInt8] {
      unsafe withUnsafeBytes(of: words) { unsafe Array($0) }
    }

    /// The first bytes as lower-case hexadecimal digits, two for each.
    ///
    /// - Parameter count: how many bytes, 32 at most.
    package func hexadecimal(_ count: Int = 32) -> String {
      bytes.prefix(count).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
  }

  private var context = SHA256_CTX()

  package init() {
    unsafe SHA256_Init(&context)
  }

  /// Adds bytes to what is hashed.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    if let start = bytes.baseAddress { unsafe SHA256_Update(&context, start, bytes.count) }
  }

  /// Adds bytes to what is hashed.
  package mutating func update(_ bytes: [UInt8]) {
    unsafe bytes.withUnsafeBytes { unsafe update($0) }
  }

  /// The hash of all bytes that were added. Nothing may be added afterwards.
  package mutating func finish() -> Digest {
    var words = SIMD4<UInt64>()
    unsafe withUnsafeMutableBytes(of: &words) { words in
      _ = unsafe SHA256_Final(words.baseAddress?.assumingMemoryBound(to: UInt8.self), &context)
    }
    return Digest(words: words)
  }

  /// The hash of these bytes.
  package static func hash(_ bytes: [UInt8]) -> Digest {
    var hash = SHA256()
    hash.update(bytes)
    return hash.finish()
  }
}
