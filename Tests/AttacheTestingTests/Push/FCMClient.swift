import Attache
import AttacheTesting
import Foundation
import NIOHTTP1

/// A client of ``PushServer`` as Google's push service.
struct FCMClient {
  let server: PushServer
  let account: GoogleAccount
  private let client: StreamClient

  /// Shared, because an RSA key takes long to make.
  private static let account = GoogleAccount()

  /// Runs a test with a server and a client, and stops both.
  static func run(
    _ account: GoogleAccount = Self.account,
    respond: @escaping @Sendable (PushServerRequest) -> PushServerAnswer = { _ in .delivered }, _ body: (FCMClient) async throws -> Void
  ) async throws {
    let server = try await PushServer.startFCM(account: account, respond: respond)
    do {
      let client = try await StreamClient(port: server.port, root: server.rootCertificatePEMFile)
      try await body(FCMClient(server: server, account: account, client: client))
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  /// The members of an assertion's header and of its claims, as JSON has them.
  struct Assertion {
    var header: [String: String]
    var claims: [String: String]

    init(_ client: FCMClient, at time: Int) {
      header = ["alg": #""RS256""#, "typ": #""JWT""#, "kid": "\"\(client.account.privateKeyID)\""]
      claims = [
        "iss": "\"\(client.account.clientEmail)\"", "aud": "\"\(client.server.tokenURI)\"",
        "scope": #""https://www.googleapis.com/auth/firebase.messaging""#, "iat": "\(time)", "exp": "\(time + 3_600)",
      ]
    }

    func signed(by account: GoogleAccount) -> String {
      let text = [header, claims].map { Self.encode(Array(Self.json($0).utf8)) }.joined(separator: ".")
      let signature = CryptoKey(privatePEM: account.privateKeyPEM)?.signature(of: Array(text.utf8))
      return "\(text).\(Self.encode(signature ?? []))"
    }

    private static func json(_ members: [String: String]) -> String {
      "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    private static func encode(_ bytes: [UInt8]) -> String {
      Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
  }

  /// Requests an access token.
  func requestToken(
    _ assertion: String, grantType: String = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
  ) async throws -> (status: UInt?, members: [String: any Sendable]) {
    let answer = try await client.send(
      .POST, "/token", ["content-type": "application/x-www-form-urlencoded"], "grant_type=\(grantType)&assertion=\(assertion)")
    return (answer.status, Self.object(answer.body))
  }

  /// Returns a new access token.
  func accessToken(at time: Int = Int(Date().timeIntervalSince1970)) async throws -> String {
    let answer = try await requestToken(Assertion(self, at: time).signed(by: account))
    return answer.members["access_token"] as? String ?? ""
  }

  /// Sends a message.
  func send(
    _ body: String, token: String, project: String = "example-project", method: HTTPMethod = .POST, contentType: String = "application/json"
  ) async throws -> Answer {
    try await send(body, token: token, path: "/v1/projects/\(project)/messages:send", method: method, contentType: contentType)
  }

  func send(
    _ body: String, token: String, path: String, method: HTTPMethod = .POST, contentType: String = "application/json"
  ) async throws -> Answer {
    Answer(try await client.send(method, path, ["content-type": contentType, "authorization": "Bearer \(token)"], body))
  }

  /// An answer of FCM.
  struct Answer {
    let status: UInt?
    let fields: HTTPHeaders
    let text: String
    let members: [String: any Sendable]

    init(_ response: StreamClient.Response) {
      (status, fields) = (response.status, response.fields)
      text = String(decoding: response.body, as: UTF8.self)
      members = FCMClient.object(response.body)
    }

    /// The name of a message that was accepted.
    var name: String? { members["name"] as? String }
    private var error: [String: any Sendable] { members["error"] as? [String: any Sendable] ?? [:] }
    var message: String? { error["message"] as? String }
    /// The name of the status, such as `NOT_FOUND`.
    var statusName: String? { error["status"] as? String }
    private var details: [[String: any Sendable]] { error["details"] as? [[String: any Sendable]] ?? [] }
    /// The types of the details.
    var types: [String] { details.compactMap { $0["@type"] as? String }.map { $0.replacing("type.googleapis.com/google.", with: "") } }
    var errorCode: String? { details.lazy.compactMap { $0["errorCode"] as? String }.first }
    /// The path of the wrong field.
    var field: String? {
      details.lazy.compactMap { ($0["fieldViolations"] as? [[String: any Sendable]])?.first?["field"] as? String }.first
    }
  }

  fileprivate static func object(_ json: [UInt8]) -> [String: any Sendable] {
    (try? JSONSerialization.jsonObject(with: Data(json))) as? [String: any Sendable] ?? [:]
  }
}
