import Testing

@testable import Attache

struct SHA256Tests {
  /// The examples of FIPS 180-4, as NIST publishes them, and the hash of empty input.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func `known hashes`(text: String, digits: String) {
    #expect(SHA256.hash(Array(text.utf8)).hexadecimal() == digits)
    #expect(SHA256.hash(Array(text.utf8)).hexadecimal(4) == String(digits.prefix(8)))
    #expect(SHA256.hash(Array(text.utf8)).bytes.count == 32)
  }

  @Test(arguments: 0...64)
  func `any number of digits, with each digit at each place`(count: Int) {
    for shift in stride(from: 0, to: 64, by: 4) {
      let word = 0x0123_4567_89ab_cdef as UInt64
      let turned = shift == 0 ? word : word << shift | word >> (64 - shift)
      let digits = String(turned, radix: 16)
      let all = String(repeating: String(repeating: "0", count: 16 - digits.count) + digits, count: 4)
      #expect(HashWords(turned, turned, turned, turned).digits(count) == all.prefix(count))
    }
  }

  @Test func `a hash does not depend on how the bytes come`() {
    let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
    for size in [1, 63, 64, 65, 999] {
      var hash = SHA256()
      for start in stride(from: 0, to: bytes.count, by: size) { hash.update(Array(bytes[start..<min(start + size, bytes.count)])) }
      #expect(hash.finish() == SHA256.hash(bytes))
    }
  }

  @Test func `the name of a file is its hash`() {
    let name = StoreName(digest: SHA256.hash(Array("abc".utf8)), type: .png)
    #expect(name.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }
}
