internal import COpenSSL

/// Computes a SHA-256 hash (FIPS 180-4) with the libcrypto that libcurl loads anyway.
///
/// It uses libcrypto's low-level functions for SHA-256. The `EVP` functions compute the same, but
/// allocate memory for each hash, and can fail.
@safe
package struct SHA256 {
  /// A hash of 32 bytes.
  package struct Digest: Hashable, Sendable {
    /// The bytes in memory order.
    let words: HashWords

    /// The 32 bytes, in order.
    package var bytes: [UInt8] {
      unsafe withUnsafeBytes(of: words) { unsafe Array($0) }
    }

    /// Returns the first bytes as lower-case hexadecimal digits, two per byte.
    ///
    /// - Parameter count: the number of bytes, at most 32.
    package func hexadecimal(_ count: Int = 32) -> String {
      words.bigEndian.digits(2 * count)
    }
  }

  private var context = SHA256_CTX()

  package init() {
    unsafe SHA256_Init(&context)
  }

  /// Adds bytes to the hash.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    if let start = bytes.baseAddress { unsafe SHA256_Update(&context, start, bytes.count) }
  }

  /// Adds bytes to the hash.
  package mutating func update(_ bytes: [UInt8]) {
    unsafe bytes.withUnsafeBytes { unsafe update($0) }
  }

  /// Returns the hash of all bytes that were added. Do not add bytes afterwards.
  package mutating func finish() -> Digest {
    var words = HashWords()
    unsafe withUnsafeMutableBytes(of: &words) { words in
      _ = unsafe SHA256_Final(words.baseAddress?.assumingMemoryBound(to: UInt8.self), &context)
    }
    return Digest(words: words)
  }

  /// Returns the hash of `bytes`.
  package static func hash(_ bytes: [UInt8]) -> Digest {
    var hash = SHA256()
    hash.update(bytes)
    return hash.finish()
  }
}

extension SHA256 {
  /// Returns the keyed hash of RFC 2104.
  static func hmac(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    var (hash, length) = ([UInt8](repeating: 0, count: 32), UInt32(0))
    _ = unsafe HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &hash, &length)
    return hash
  }
}

extension SHA256.Digest {
  /// The hash in base64 (RFC 4648), with padding.
  package var base64: String {
    // libcrypto writes a zero byte at the end.
    var text = [UInt8](repeating: 0, count: 45)
    let length = unsafe EVP_EncodeBlock(&text, bytes, 32)
    return String(decoding: text.prefix(Int(length)), as: UTF8.self)
  }
}
