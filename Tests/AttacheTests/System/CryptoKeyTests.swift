import Foundation
import Testing

@testable import Attache

struct CryptoKeyTests {
  /// The key, the signed text and the signature of RFC 7515, A.3.
  private static let pem = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7
    6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
    -----END PUBLIC KEY-----
    """
  private static let text = Array(
    ("eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQo"
      + "gImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ").utf8)

  private func signature() throws -> [UInt8] {
    let base64 = "DtEhU3ljbEg8L38VWAfUAqOyKAM6+Xx+F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3+Kg6NU1Q=="
    return Array(try #require(Data(base64Encoded: base64)))
  }

  @Test func `the signature of RFC 7515 is right, and no other`() throws {
    let (key, signature) = (try #require(CryptoKey(publicPEM: Self.pem)), try signature())
    #expect(key.isSignature(signature, of: Self.text))
    #expect(!key.isSignature(signature, of: Self.text + [0]))
    #expect(!key.isSignature(Array(signature[32...] + signature[..<32]), of: Self.text))
    #expect(!key.isSignature(signature.dropLast(), of: Self.text))
    #expect(!key.isSignature([], of: Self.text))
    for index in [0, 31, 32, 63] {
      var other = signature
      other[index] ^= 1
      #expect(!key.isSignature(other, of: Self.text))
    }
    #expect(key.signature(of: Self.text) == nil && key.privatePEM == nil)
  }

  @Test func `a key signs what it verifies, also when it was written and read`() throws {
    let key = try #require(CryptoKey.makeP256())
    let pem = try #require(key.privatePEM)
    let again = try #require(CryptoKey(privatePEM: pem))
    for count in 0..<64 {
      let text = [UInt8](repeating: 7, count: count)
      let signature = try #require(again.signature(of: text))
      #expect(key.isSignature(signature, of: text))
    }
  }

  @Test func `another key, and what is none, is not taken`() throws {
    #expect(CryptoKey(privatePEM: Self.pem) == nil && CryptoKey(privatePEM: "") == nil && CryptoKey(publicPEM: "") == nil)
    let key = try #require(CryptoKey.makeP256())
    let pem = try #require(key.privatePEM)
    #expect(CryptoKey(publicPEM: pem) == nil)
    let other = try #require(CryptoKey(publicPEM: Self.ed25519))
    let signature = try signature()
    #expect(other.algorithm == nil && !other.isSignature(signature, of: Self.text))
  }

  /// The public key of RFC 8410, 10.1.
  private static let ed25519 = """
    -----BEGIN PUBLIC KEY-----
    MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
    -----END PUBLIC KEY-----
    """
}
