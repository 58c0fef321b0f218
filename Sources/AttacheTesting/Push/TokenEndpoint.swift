internal import Attache

/// Google's authorization server: issues access tokens for assertions that an account's key has
/// signed (RFC 7523).
///
/// Source: https://developers.google.com/identity/protocols/oauth2/service-account
struct TokenEndpoint: Sendable {
  let account: GoogleAccount
  let accessTokens: AccessTokens

  /// The endpoint's path.
  static let path = "/token"
  private static let scope = "https://www.googleapis.com/auth/firebase.messaging"
  private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
  /// The greatest difference between an assertion's `iat` and the time, in seconds.
  private static let tolerance = 300.0
  /// The longest time from an assertion's `iat` to its `exp`, in seconds.
  private static let longestValidity: Int64 = 3_600

  /// Returns the endpoint's address, which is the assertion's `aud`.
  static func uri(port: Int) -> String { "https://localhost:\(port)\(path)" }

  /// An error of OAuth (RFC 6749, 5.2).
  private struct Mistake: Error {
    var code = "invalid_grant"
    var text: String
  }

  /// Answers a request for an access token.
  func response(to request: PushServerRequest) -> PushResponse {
    do throws(Mistake) {
      try check(try assertion(of: request), audience: Self.uri(port: request.port))
    } catch {
      let body = Self.body { writer in
        writer.key("error")
        writer.string(error.code)
        writer.key("error_description")
        writer.string(error.text)
      }
      return PushResponse(status: 400, body: body, reason: "\(error.code): \(error.text)")
    }
    let token = accessTokens.issue(until: account.now() + Double(account.accessTokenLifetime))
    let body = Self.body { writer in
      writer.key("access_token")
      writer.string(token)
      writer.key("expires_in")
      writer.integer(account.accessTokenLifetime)
      writer.key("token_type")
      writer.string("Bearer")
    }
    return PushResponse(status: 200, body: body)
  }

  private func assertion(of request: PushServerRequest) throws(Mistake) -> String {
    guard request.method == "POST", request.isContent("application/x-www-form-urlencoded"), let fields = Self.fields(request.body) else {
      throw Mistake(code: "invalid_request", text: "Not a form that is sent with POST.")
    }
    guard fields["grant_type"] == Self.grantType else {
      throw Mistake(code: "unsupported_grant_type", text: "Invalid grant_type: \(fields["grant_type"] ?? "")")
    }
    guard let assertion = fields["assertion"] else {
      throw Mistake(code: "invalid_request", text: "Missing required parameter: assertion")
    }
    return assertion
  }

  private func check(_ assertion: String, audience: String) throws(Mistake) {
    guard let token = WebToken(assertion), token.algorithm == "RS256" else { throw Mistake(text: "Invalid JWT: not signed with RS256.") }
    guard token.keyID == nil || token.keyID == account.privateKeyID, token.isSigned(by: account.key) else {
      throw Mistake(text: "Invalid JWT Signature.")
    }
    guard token.text("iss") == account.clientEmail else { throw Mistake(text: "Invalid grant: account not found") }
    guard token.text("aud") == audience else { throw Mistake(text: "Invalid JWT: Failed audience check.") }
    let now = account.now()
    guard let issuedAt = token.number("iat"), let end = token.number("exp"), abs(now - Double(issuedAt)) <= Self.tolerance,
      Double(end) > now, Double(end) - Double(issuedAt) <= Double(Self.longestValidity)
    else {
      throw Mistake(
        text: "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values.")
    }
    guard token.text("scope")?.split(separator: " ").contains(Self.scope[...]) == true else {
      throw Mistake(code: "invalid_scope", text: "Invalid OAuth scope or ID token audience provided.")
    }
  }

  /// Returns the fields of a form; nil when it is malformed or has a field twice, which OAuth does not
  /// allow (RFC 6749, 3.2).
  private static func fields(_ form: [UInt8]) -> [String: String]? {
    var fields: [String: String] = [:]
    for pair in String(decoding: form, as: UTF8.self).split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { $0.replacing("+", with: " ") }
      guard parts.count == 2, let name = PercentEncoding.decode(parts[0]), let value = PercentEncoding.decode(parts[1]),
        fields.updateValue(value, forKey: name) == nil
      else { return nil }
    }
    return fields
  }

  private static func body(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    write(&writer)
    writer.endObject()
    return writer.bytes
  }
}
