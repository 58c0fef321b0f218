internal import Attache
internal import FoundationEssentials

/// A JSON Web Token with a signature (RFC 7519), decoded.
struct WebToken {
  private let header: [UInt8]
  private let claims: [UInt8]
  private let signature: [UInt8]
  private let signedText: [UInt8]

  /// Decodes a token; nil when the text does not have its three parts. The signature is not checked.
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.decode(parts[0]), let claims = Self.decode(parts[1]), let signature = Self.decode(parts[2])
    else { return nil }
    (self.header, self.claims, self.signature) = (header, claims, signature)
    signedText = Array("\(parts[0]).\(parts[1])".utf8)
  }

  /// Returns whether the key has signed the token.
  func isSigned(by key: CryptoKey) -> Bool {
    key.isSignature(signature, of: signedText)
  }

  /// The name of the signature's algorithm, such as `ES256`.
  var algorithm: String? { Self.text("alg", header) }
  /// The identifier of the key that signed the token.
  var keyID: String? { Self.text("kid", header) }

  /// Returns a claim that is a string.
  func text(_ claim: String) -> String? { Self.text(claim, claims) }

  /// Returns a claim that is a whole number; nil for a string or any other value.
  func number(_ claim: String) -> Int64? {
    guard let value = DeliveryReader().value(at: JSONPointer(claim), of: claims), value.first == 0xFF else { return nil }
    return Int64(String(decoding: value.dropFirst(), as: UTF8.self))
  }

  private static func text(_ name: String, _ json: [UInt8]) -> String? {
    DeliveryReader().value(at: JSONPointer(name), of: json).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Decodes the base64 of URLs, which has no padding.
  private static func decode(_ part: some StringProtocol) -> [UInt8]? {
    guard part.utf8.allSatisfy({ $0.isLetterASCII || $0.decimalDigit != nil || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
    else { return nil }
    var text = String(part).replacing("-", with: "+").replacing("_", with: "/")
    text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    return Data(base64Encoded: text).map(Array.init)
  }
}
