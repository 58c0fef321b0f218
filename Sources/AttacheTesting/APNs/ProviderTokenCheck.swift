internal import Attache
internal import Crypto
internal import FoundationEssentials

/// Checks provider tokens as Apple documents them: a JWT, signed with ES256, with the key's
/// identifier, the team's, and the time.
///
/// Source:
/// https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
public struct ProviderTokenCheck: Sendable {
  /// The key that signs, in PEM form, for a test's `.p8` file.
  public let privateKeyPEM: String
  public let keyID: String
  public let teamID: String
  private let key: P256.Signing.PublicKey
  /// How old a token may be.
  private static let lifetime = 3_600.0
  /// The seconds since 1970.
  private let now: @Sendable () -> Double

  /// Makes a key.
  ///
  /// - Parameters:
  ///   - keyID: the key's identifier.
  ///   - teamID: the developer team's identifier.
  ///   - now: the seconds since 1970; nil is the machine's clock.
  public init(keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ", now: (@Sendable () -> Double)? = nil) {
    let privateKey = P256.Signing.PrivateKey()
    (privateKeyPEM, key) = (privateKey.pemRepresentation, privateKey.publicKey)
    (self.keyID, self.teamID, self.now) = (keyID, teamID, now ?? { Date().timeIntervalSince1970 })
  }

  /// - Throws: ``APNsRefusal`` for a token that Apple would refuse.
  func check(_ authorization: String?) throws(APNsRefusal) {
    guard let authorization else { throw APNsRefusal(403, "MissingProviderToken") }
    guard authorization.hasPrefix("bearer ") else { throw APNsRefusal(403, "InvalidProviderToken") }
    let parts = authorization.dropFirst("bearer ".count).split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.decode(parts[0]), let claims = Self.decode(parts[1]), let signature = Self.decode(parts[2]),
      let signed = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
      key.isValidSignature(signed, for: Data("\(parts[0]).\(parts[1])".utf8)),
      Self.text("alg", header) == "ES256", Self.text("kid", header) == keyID, Self.text("iss", claims) == teamID,
      let issuedAt = Self.number("iat", claims)
    else { throw APNsRefusal(403, "InvalidProviderToken") }
    guard abs(now() - Double(issuedAt)) <= Self.lifetime else { throw APNsRefusal(403, "ExpiredProviderToken") }
  }

  private static func decode(_ part: Substring) -> [UInt8]? {
    var text = String(part).replacing("-", with: "+").replacing("_", with: "/")
    text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    return Data(base64Encoded: text).map(Array.init)
  }

  private static func text(_ name: String, _ json: [UInt8]) -> String? {
    DeliveryReader().value(at: JSONPointer(name), of: json).map { String(decoding: $0, as: UTF8.self) }
  }

  /// A whole number; nil for a text or anything else.
  private static func number(_ name: String, _ json: [UInt8]) -> Int64? {
    guard let value = DeliveryReader().value(at: JSONPointer(name), of: json), value.first == 0xFF else { return nil }
    return Int64(String(decoding: value.dropFirst(), as: UTF8.self))
  }
}
