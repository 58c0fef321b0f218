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

/// The 32 bytes of a SHA-256 hash, as four words.
///
/// A `SIMD4` would need memory that is aligned to 32 bytes, which costs more to allocate.
package struct HashWords: Hashable, Sendable, BitwiseCopyable {
  private var first: UInt64
  private var second: UInt64
  private var third: UInt64
  private var fourth: UInt64

  package init(_ first: UInt64 = 0, _ second: UInt64 = 0, _ third: UInt64 = 0, _ fourth: UInt64 = 0) {
    (self.first, self.second, self.third, self.fourth) = (first, second, third, fourth)
  }

  /// A word; `index` is in 0…3.
  package subscript(index: Int) -> UInt64 {
    get {
      switch index {
      case 0: first
      case 1: second
      case 2: third
      default: fourth
      }
    }
    set {
      switch index {
      case 0: first = newValue
      case 1: second = newValue
      case 2: third = newValue
      default: fourth = newValue
      }
    }
  }

  /// The words of a hash in memory order, as big-endian numbers.
  var bigEndian: HashWords {
    var numbers = self
    for index in 0..<4 { numbers[index] = self[index].bigEndian }
    return numbers
  }

  /// Writes the first lower-case hexadecimal digits of big-endian words.
  ///
  /// - Parameters:
  ///   - count: the number of digits, at most 64.
  ///   - text: receives them at its start.
  func writeDigits(_ count: Int, to text: UnsafeMutableBufferPointer<UInt8>) {
    for start in stride(from: 0, to: count, by: 8) {
      let word = self[start / 16]
      var digits = Self.digits(of: UInt32(truncatingIfNeeded: start % 16 == 0 ? word >> 32 : word))
      for index in start..<min(start + 8, count) {
        unsafe text[index] = UInt8(truncatingIfNeeded: digits)
        digits >>= 8
      }
    }
  }

  /// Returns the eight lower-case hexadecimal digits of a number, the first in the lowest byte.
  private static func digits(of number: UInt32) -> UInt64 {
    // Each step moves the second half of each group apart, until a byte has four bits.
    var nibbles = UInt64(number.byteSwapped)
    nibbles = (nibbles | nibbles << 16) & 0x0000_FFFF_0000_FFFF
    nibbles = (nibbles | nibbles << 8) & 0x00FF_00FF_00FF_00FF
    nibbles = (nibbles >> 4 | nibbles << 8) & 0x0F0F_0F0F_0F0F_0F0F
    // Adding 6 carries into bit 4 for the digits from a to f, which stand 39 behind the digit 9.
    let letters = (nibbles &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    return nibbles &+ 0x3030_3030_3030_3030 &+ letters &* 39
  }

  /// Returns the first lower-case hexadecimal digits of big-endian words, followed by `ending`.
  ///
  /// - Parameter count: the number of digits, at most 64.
  package func digits(_ count: Int, then ending: String = "") -> String {
    let end = count + ending.utf8.count
    return unsafe String(unsafeUninitializedCapacity: end) { text in
      unsafe writeDigits(count, to: text)
      for (index, byte) in ending.utf8.enumerated() { unsafe text[count + index] = byte }
      return end
    }
  }
}
