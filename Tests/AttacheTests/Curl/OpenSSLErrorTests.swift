import Testing

@testable import Attache

@Suite struct OpenSSLErrorTests {
  /// Messages of libcurl 7.88.1 with OpenSSL 3.0, and their reasons.
  private static let texts: [(String, Reason)] = [
    ("error:0A000410:SSL routines::sslv3 alert handshake failure", .tlsVersion),
    ("error:0A00042E:SSL routines::tlsv1 alert protocol version", .tlsVersion),
    ("error:0A00042F:SSL routines::tlsv1 alert insufficient security", .tlsVersion),
    ("error:0A000102:SSL routines::unsupported protocol", .tlsVersion),
    ("error:0A00018A:SSL routines::dh key too small", .tlsVersion),
    ("error:0280007E:Diffie-Hellman routines::modulus too small", .tlsVersion),
    ("error:0A0000C1:SSL routines::no shared cipher", .tlsVersion),
    ("error:0A000152:SSL routines::unsafe legacy renegotiation disabled", .tlsVersion),
    ("error:0A00010B:SSL routines::wrong version number", .tlsHandshake),
    ("error:0A000126:SSL routines::unexpected eof while reading", .tlsHandshake),
    ("error:0A00045C:SSL routines::tlsv13 alert certificate required", .tlsHandshake),
    ("error:0A000438:SSL routines::tlsv1 alert internal error", .tlsHandshake),
    ("error:0A000458:SSL routines::tlsv1 unrecognized name", .tlsHost),
    ("error:0680008E:asn1 encoding routines::not enough data", .tlsHandshake),
  ]

  @Test(arguments: texts) func `the number in the text says what a handshake failed for`(_ text: String, _ reason: Reason) throws {
    #expect(try #require(OpenSSLError(in: text)).meaning == reason)
    #expect(try #require(OpenSSLError(in: "OpenSSL SSL_read: \(text), errno 0")).meaning == reason)
  }

  @Test(arguments: ["", "error:", "error:XYZ", "OpenSSL SSL_connect: Connection reset by peer in connection to 127.0.0.1:443 "])
  func `a text without a number is no error of OpenSSL's`(_ text: String) {
    #expect(OpenSSLError(in: text) == nil)
  }

  @Test func `only an end without a word is unanswered`() {
    let unanswered = Self.texts.filter { OpenSSLError(in: $0.0)?.isUnanswered == true }
    #expect(unanswered.map(\.0) == ["error:0A000126:SSL routines::unexpected eof while reading"])
  }
}
