internal import Attache

/// A service account of Google, with its key: the JSON file that Google's console offers.
///
/// Source: https://developers.google.com/identity/protocols/oauth2/service-account
public struct ServiceAccount: Sendable {
  /// The identifier of the account's project: ASCII letters, digits and hyphens. A project of an organisation
  /// also has a colon and dots.
  public let projectID: String
  /// The account's name.
  public let email: String
  /// The `https://` URL of the server that issues access tokens.
  public let tokenURI: String
  private let keyID: String?
  private let key: CryptoKey

  /// The maximum size of a key file in bytes; Google's have about 2,400.
  private static let maximumBytes = 65_536
  /// What an access token is for.
  ///
  /// Source: https://firebase.google.com/docs/cloud-messaging/send/v1-api
  private static let scope = "https://www.googleapis.com/auth/firebase.messaging"
  /// The longest life of an assertion that Google accepts, in seconds.
  private static let lifetime: Int64 = 3_600

  /// Reads a key file.
  ///
  /// - Throws: ``SenderSetupError`` when the file cannot be read, or is not the key of a service account.
  public init(contentsOf path: String) throws(SenderSetupError) {
    let bytes: [UInt8]?
    do throws(SystemError) {
      bytes = try SmallFile.read(path, maximum: Self.maximumBytes)
    } catch {
      throw SenderSetupError("it cannot be read: \(SystemError.text(error.number))")
    }
    guard let bytes else { throw SenderSetupError("it is longer than 64 KiB, so it is not a key") }
    try self.init(json: bytes)
  }

  /// Parses a key.
  ///
  /// - Throws: ``SenderSetupError`` when it is not the key of a service account.
  public init(json: [UInt8]) throws(SenderSetupError) {
    let parser = JSONParser(capacity: Self.maximumBytes)
    guard let root = parser.parse(copying: json), root.isObject else { throw SenderSetupError("it is not a JSON object") }
    guard root.member("project_info") == nil else {
      throw SenderSetupError(
        "it is the app's google-services.json; a sender needs the key of a service account: Firebase console, project settings, service accounts"
      )
    }
    let type = Self.text("type", of: root)
    guard let type, type.utf8.elementsEqual("service_account".utf8) else {
      throw SenderSetupError("its type is \(type.map { PrintableText.of($0) } ?? "missing"), and must be service_account")
    }
    func required(_ name: String) throws(SenderSetupError) -> String {
      guard let text = Self.text(name, of: root) else { throw SenderSetupError("it has no \(name)") }
      return text
    }
    projectID = try required("project_id")
    guard Self.isProject(projectID) else {
      throw SenderSetupError("its project_id \(PrintableText.of(projectID)) is not the identifier of a project")
    }
    email = try required("client_email")
    tokenURI = try required("token_uri")
    guard tokenURI.utf8.starts(with: "https://".utf8), tokenURI.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      throw SenderSetupError("its token_uri \(PrintableText.of(tokenURI)) is not an https:// URL")
    }
    guard let key = CryptoKey(privatePEM: try required("private_key")), key.algorithm == .rs256 else {
      throw SenderSetupError("its private_key is not an RSA key in PEM form")
    }
    (self.key, keyID) = (key, Self.text("private_key_id", of: root))
  }

  private static func text(_ name: String, of object: JSONElement) -> String? {
    object.member(name)?.text?.string
  }

  private static func isProject(_ text: String) -> Bool {
    1...255 ~= text.utf8.count
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"): true
        default: false
        }
      }
  }

  /// Returns the request for an access token (RFC 7523, 2.1).
  ///
  /// - Parameter now: the time since 1970.
  /// - Returns: nil if libcrypto cannot sign, as without memory.
  func tokenRequest(at now: Duration) -> HTTPPost? {
    let seconds = now.components.seconds
    var claims = JSONWriter()
    claims.beginObject()
    for (name, value) in [("iss", email), ("scope", Self.scope), ("aud", tokenURI)] {
      claims.key(name)
      claims.string(value)
    }
    claims.key("iat")
    claims.integer(seconds)
    claims.key("exp")
    claims.integer(seconds + Self.lifetime)
    claims.endObject()
    guard let assertion = WebToken.signed(claims.bytes, by: key, keyID: keyID) else { return nil }
    // A signed token has only letters, digits, points, hyphens and underscores.
    let body = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
    return HTTPPost(url: tokenURI, fields: ["Content-Type: application/x-www-form-urlencoded"], body: Array(body.utf8))
  }
}
