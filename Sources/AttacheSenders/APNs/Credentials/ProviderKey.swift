internal import Attache

/// A P-256 key from Apple's developer site, as in the file `AuthKey_KEYID.p8`.
public struct SigningKey: Sendable {
  fileprivate let key: CryptoKey

  /// The maximum size of a key file in bytes; a key has about 260.
  private static let maximumBytes = 16_384

  /// Parses a key.
  ///
  /// - Parameter text: a key in PEM form.
  /// - Throws: ``SenderSetupError`` when the text is not a P-256 private key.
  public init(pem text: String) throws(SenderSetupError) {
    guard let key = CryptoKey(privatePEM: text), key.algorithm == .es256 else {
      throw SenderSetupError("it contains no P-256 private key in PEM form, as in Apple's AuthKey_….p8")
    }
    self.key = key
  }

  /// Reads a key file.
  ///
  /// - Parameter path: the path of a file in PEM form.
  /// - Throws: ``SenderSetupError`` when the file cannot be read, is longer than 16 KiB, or contains
  ///   no P-256 private key.
  public init(contentsOf path: String) throws(SenderSetupError) {
    let bytes: [UInt8]?
    do throws(SystemError) {
      bytes = try SmallFile.read(path, maximum: Self.maximumBytes)
    } catch {
      throw SenderSetupError("it cannot be read: \(SystemError.text(error.number))")
    }
    guard let bytes else { throw SenderSetupError("it is longer than 16 KiB, so it is not a key") }
    try self.init(pem: String(decoding: bytes, as: UTF8.self))
  }
}

/// A signing key with its identifiers. A provider authenticates itself with the tokens that it
/// signs.
///
/// Source:
/// https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
public struct ProviderKey: Sendable {
  /// The identifier that Apple assigns to the key: ten characters.
  public let keyID: String
  /// The identifier that Apple assigns to the developer's team: ten characters.
  public let teamID: String
  private let key: CryptoKey

  /// Combines a key with its identifiers.
  ///
  /// - Parameters:
  ///   - key: the signing key.
  ///   - keyID: 1 to 64 ASCII letters and digits.
  ///   - teamID: 1 to 64 ASCII letters and digits.
  /// - Throws: ``SenderSetupError`` when an identifier has another form.
  public init(_ key: SigningKey, keyID: String, teamID: String) throws(SenderSetupError) {
    try Self.check((keyID, teamID))
    self.key = key.key
    (self.keyID, self.teamID) = (keyID, teamID)
  }

  /// Checks the identifiers of a key.
  ///
  /// - Throws: ``SenderSetupError`` when one has another form.
  package static func check(_ identifiers: (keyID: String, teamID: String)) throws(SenderSetupError) {
    for (name, identifier) in [("key", identifiers.keyID), ("team", identifiers.teamID)] where !isIdentifier(identifier) {
      throw SenderSetupError("the \(name)'s identifier must be letters and digits, as Apple's developer site shows it")
    }
  }

  /// Signs a token. The identifiers need no escapes.
  ///
  /// - Parameter issuedAt: the time since 1970.
  /// - Returns: the value of the header `authorization`; nil if libcrypto cannot sign, as without memory.
  func authorization(issuedAt: Duration) -> [UInt8]? {
    let claims = #"{"iss":"\#(teamID)","iat":\#(issuedAt.components.seconds)}"#
    return WebToken.signed(Array(claims.utf8), by: key, keyID: keyID).map { Array("bearer \($0)".utf8) }
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
