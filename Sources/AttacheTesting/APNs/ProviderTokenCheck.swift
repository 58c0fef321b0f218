internal import Attache
internal import FoundationEssentials

/// Checks provider tokens as Apple documents them: a JWT signed with ES256 that contains the key's
/// identifier, the team's identifier, and the time.
///
/// Source:
/// https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
public struct ProviderTokenCheck: Sendable {
  /// The signing key in PEM form, for a test's `.p8` file.
  public let privateKeyPEM: String
  /// The identifier of the signing key, in the token's `kid`.
  public let keyID: String
  /// The identifier of the developer team, in the token's `iss`.
  public let teamID: String
  private let key: CryptoKey
  /// The maximum age of a token, in seconds.
  private static let lifetime = 3_600.0
  /// Returns the seconds since 1970.
  private let now: @Sendable () -> Double

  /// Creates a check with a new key.
  ///
  /// - Parameters:
  ///   - keyID: the key's identifier.
  ///   - teamID: the developer team's identifier.
  ///   - now: returns the seconds since 1970; nil uses the machine's clock.
  public init(keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ", now: (@Sendable () -> Double)? = nil) {
    guard let key = CryptoKey.makeP256(), let pem = key.privatePEM else { preconditionFailure("no memory for a key") }
    (self.key, privateKeyPEM) = (key, pem)
    (self.keyID, self.teamID, self.now) = (keyID, teamID, now ?? { Date().timeIntervalSince1970 })
  }

  /// Checks the value of an `authorization` header field.
  ///
  /// - Throws: ``APNsRefusal`` for a token that Apple would refuse.
  func check(_ authorization: String?) throws(APNsRefusal) {
    guard let authorization else { throw APNsRefusal(403, "MissingProviderToken") }
    guard authorization.hasPrefix("bearer ") else { throw APNsRefusal(403, "InvalidProviderToken") }
    let parts = authorization.dropFirst("bearer ".count).split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.decode(parts[0]), let claims = Self.decode(parts[1]), let signature = Self.decode(parts[2]),
      key.isSignature(signature, of: Array("\(parts[0]).\(parts[1])".utf8)),
      Self.text("alg", header) == "ES256", Self.text("kid", header) == keyID, Self.text("iss", claims) == teamID,
      let issuedAt = Self.number("iat", claims)
    else { throw APNsRefusal(403, "InvalidProviderToken") }
    guard abs(now() - Double(issuedAt)) <= Self.lifetime else { throw APNsRefusal(403, "ExpiredProviderToken") }
  }

  /// Decodes the base64 of URLs, which has no padding.
  private static func decode(_ part: Substring) -> [UInt8]? {
    guard part.utf8.allSatisfy({ $0.isLetterASCII || $0.decimalDigit != nil || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
    else { return nil }
    var text = String(part).replacing("-", with: "+").replacing("_", with: "/")
    text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    return Data(base64Encoded: text).map(Array.init)
  }

  private static func text(_ name: String, _ json: [UInt8]) -> String? {
    DeliveryReader().value(at: JSONPointer(name), of: json).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns a whole number; nil for a string or any other value.
  private static func number(_ name: String, _ json: [UInt8]) -> Int64? {
    guard let value = DeliveryReader().value(at: JSONPointer(name), of: json), value.first == 0xFF else { return nil }
    return Int64(String(decoding: value.dropFirst(), as: UTF8.self))
  }
}
