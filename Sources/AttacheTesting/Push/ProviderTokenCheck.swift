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
    guard let key = CryptoKey.makeP256() else { preconditionFailure("no memory for a key") }
    self.init(key, keyID, teamID, now)
  }

  /// Creates a check with the key that a folder keeps, or with a new one that it keeps from now on.
  ///
  /// - Parameters:
  ///   - keys: the folder. The key's file is ``keyFileName``.
  ///   - keyID: the key's identifier.
  ///   - teamID: the developer team's identifier.
  /// - Throws: ``OriginError`` when the file cannot be read or made.
  public init(keptIn keys: KeyFolder, keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ") throws(OriginError) {
    self.init(try keys.key(in: Self.keyFileName(keyID), .es256), keyID, teamID, nil)
  }

  private init(_ key: CryptoKey, _ keyID: String, _ teamID: String, _ now: (@Sendable () -> Double)?) {
    guard let pem = key.privatePEM else { preconditionFailure("no memory for a key") }
    (self.key, privateKeyPEM) = (key, pem)
    (self.keyID, self.teamID, self.now) = (keyID, teamID, now ?? { Date().timeIntervalSince1970 })
  }

  /// The name that Apple's developer site gives the key's file.
  public var keyFileName: String { Self.keyFileName(keyID) }

  private static func keyFileName(_ keyID: String) -> String { "AuthKey_\(keyID).p8" }

  /// Checks the value of an `authorization` header field.
  ///
  /// - Throws: ``PushRefusal`` for a token that Apple would refuse.
  func check(_ authorization: String?) throws(PushRefusal) {
    guard let authorization else { throw PushRefusal(403, "MissingProviderToken") }
    guard authorization.hasPrefix("bearer ") else { throw PushRefusal(403, "InvalidProviderToken") }
    guard let token = WebToken(authorization.dropFirst("bearer ".count)), token.isSigned(by: key),
      token.algorithm == "ES256", token.keyID == keyID, token.text("iss") == teamID, let issuedAt = token.number("iat")
    else { throw PushRefusal(403, "InvalidProviderToken") }
    guard abs(now() - Double(issuedAt)) <= Self.lifetime else { throw PushRefusal(403, "ExpiredProviderToken") }
  }
}
