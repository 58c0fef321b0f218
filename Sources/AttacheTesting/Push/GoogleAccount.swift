internal import Attache
internal import FoundationEssentials

/// A service account of Google's with a new key, and the lifetime of its access tokens.
///
/// Source: https://developers.google.com/identity/protocols/oauth2/service-account
public struct GoogleAccount: Sendable {
  /// The identifier of the project that the account may send messages for.
  public let projectID: String
  /// The account's address, in the assertion's `iss`.
  public let clientEmail: String
  /// The identifier of the account's key, in the assertion's `kid`.
  public let privateKeyID: String
  /// The account's RSA key in PEM form.
  public let privateKeyPEM: String
  /// The lifetime of an access token, in seconds.
  public let accessTokenLifetime: Int
  let key: CryptoKey
  /// Returns the seconds since 1970.
  let now: @Sendable () -> Double

  /// Creates an account with a new key.
  ///
  /// - Parameters:
  ///   - projectID: the project's identifier.
  ///   - clientEmail: the account's address; nil for one of the project.
  ///   - privateKeyID: the key's identifier.
  ///   - accessTokenLifetime: the lifetime of an access token, in seconds.
  ///   - now: returns the seconds since 1970; nil uses the machine's clock.
  public init(
    projectID: String = "example-project", clientEmail: String? = nil, privateKeyID: String = "0123456789abcdef0123456789abcdef01234567",
    accessTokenLifetime: Int = 3_599, now: (@Sendable () -> Double)? = nil
  ) {
    guard let key = CryptoKey.makeRSA() else { preconditionFailure("no memory for a key") }
    self.init(key, projectID, clientEmail, privateKeyID, accessTokenLifetime, now)
  }

  /// Creates an account with the key that a folder keeps, or with a new one that it keeps from now on, in
  /// `service-account.key`.
  ///
  /// - Parameters:
  ///   - keys: the folder.
  ///   - projectID: the project's identifier.
  ///   - privateKeyID: the key's identifier.
  ///   - accessTokenLifetime: the lifetime of an access token, in seconds.
  /// - Throws: ``OriginError`` when the file cannot be read or made.
  public init(
    keptIn keys: KeyFolder, projectID: String = "example-project", privateKeyID: String = "0123456789abcdef0123456789abcdef01234567",
    accessTokenLifetime: Int = 3_599
  ) throws(OriginError) {
    self.init(try keys.key(in: "service-account.key", .rs256), projectID, nil, privateKeyID, accessTokenLifetime, nil)
  }

  private init(
    _ key: CryptoKey, _ projectID: String, _ clientEmail: String?, _ privateKeyID: String, _ accessTokenLifetime: Int,
    _ now: (@Sendable () -> Double)?
  ) {
    guard let pem = key.privatePEM else { preconditionFailure("no memory for a key") }
    (self.key, privateKeyPEM) = (key, pem)
    (self.projectID, self.privateKeyID, self.accessTokenLifetime) = (projectID, privateKeyID, accessTokenLifetime)
    self.clientEmail = clientEmail ?? "firebase-adminsdk@\(projectID).iam.gserviceaccount.com"
    self.now = now ?? { Date().timeIntervalSince1970 }
  }

  /// Returns the JSON text of the account's key, as Google's console downloads it.
  ///
  /// - Parameter tokenURI: the address that issues access tokens (``PushServer/tokenURI``).
  public func keyFile(tokenURI: String) -> String {
    let members = [
      ("type", "service_account"), ("project_id", projectID), ("private_key_id", privateKeyID), ("private_key", privateKeyPEM),
      ("client_email", clientEmail), ("client_id", "123456789012345678901"), ("auth_uri", "https://accounts.google.com/o/oauth2/auth"),
      ("token_uri", tokenURI), ("auth_provider_x509_cert_url", "https://www.googleapis.com/oauth2/v1/certs"),
      ("client_x509_cert_url", "https://www.googleapis.com/robot/v1/metadata/x509/\(clientEmail.replacing("@", with: "%40"))"),
      ("universe_domain", "googleapis.com"),
    ]
    return "{\n" + members.map { "  \(Self.quoted($0)): \(Self.quoted($1))" }.joined(separator: ",\n") + "\n}\n"
  }

  /// Whether a text is the file of this account's key, with any port.
  package func isKeyFile(_ text: String) -> Bool { text.contains(Self.quoted(privateKeyPEM)) }

  private static func quoted(_ text: String) -> String {
    var writer = JSONWriter()
    writer.string(text)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
