internal import Glibc
internal import JWTKit

/// A P-256 key of Apple's developer site, as its file `AuthKey_KEYID.p8` has it.
public struct SigningKey: Sendable {
  fileprivate let key: ES256PrivateKey

  /// Bytes of a key's file that are read at most; a key has about 260.
  private static let maximumBytes = 16_384

  /// - Parameter text: a key in PEM form.
  /// - Throws: ``APNsSetupError`` when the text is no such key.
  public init(pem text: String) throws(APNsSetupError) {
    do {
      key = try ES256PrivateKey(pem: text)
    } catch {
      throw APNsSetupError("it holds no P-256 private key in PEM form, as Apple gives it in AuthKey_….p8")
    }
  }

  /// Reads a key's file.
  ///
  /// - Throws: ``APNsSetupError`` when the file cannot be read, is longer than 16 KiB, or holds no
  ///   such key.
  public init(contentsOf path: String) throws(APNsSetupError) {
    guard let file = unsafe fopen(path, "re") else { throw Self.unreadable }
    defer { unsafe fclose(file) }
    var bytes = [UInt8](repeating: 0, count: Self.maximumBytes + 1)
    let count = unsafe fread(&bytes, 1, bytes.count, file)
    guard unsafe ferror(file) == 0 else { throw Self.unreadable }
    guard count <= Self.maximumBytes else { throw APNsSetupError("it is longer than 16 KiB, and no key") }
    try self.init(pem: String(decoding: bytes.prefix(count), as: UTF8.self))
  }

  private static var unreadable: APNsSetupError {
    APNsSetupError("it cannot be read: \(unsafe String(cString: strerror(errno)))")
  }
}

/// A key and whose it is: with it a provider signs the tokens that it authenticates itself by.
///
/// Source:
/// https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
public struct ProviderKey: Sendable {
  /// Ten characters, which Apple gives the key.
  public let keyID: String
  /// Ten characters, which Apple gives the developer's team.
  public let teamID: String
  private let key: ES256PrivateKey

  /// - Parameters:
  ///   - keyID: letters and digits.
  ///   - teamID: letters and digits.
  /// - Throws: ``APNsSetupError`` when an identifier has another form.
  public init(_ key: SigningKey, keyID: String, teamID: String) throws(APNsSetupError) {
    for (name, identifier) in [("key", keyID), ("team", teamID)] where !Self.isIdentifier(identifier) {
      throw APNsSetupError("the \(name)'s identifier must be letters and digits, as Apple's developer site shows it")
    }
    self.key = key.key
    (self.keyID, self.teamID) = (keyID, teamID)
  }

  private struct Claims: JWTPayload {
    let iss: String
    /// Seconds since 1970.
    let iat: Int64

    func verify(using algorithm: some JWTAlgorithm) async throws {}
  }

  /// Makes a token.
  ///
  /// - Parameter issuedAt: since 1970.
  /// - Returns: the value of the header `authorization`.
  func authorization(issuedAt: Duration) async throws -> [UInt8] {
    let identifier = JWKIdentifier(string: keyID)
    let keys = await JWTKeyCollection().add(ecdsa: key, kid: identifier)
    let token = try await keys.sign(Claims(iss: teamID, iat: issuedAt.components.seconds), kid: identifier)
    return Array("bearer \(token)".utf8)
  }

  private static func isIdentifier(_ text: String) -> Bool {
    1...64 ~= text.utf8.count
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: false
        }
      }
  }
}
