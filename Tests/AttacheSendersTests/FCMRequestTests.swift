import Attache
import AttacheQueue
import AttacheTesting
import Testing

@testable import AttacheSenders

/// What is sent for a line, and the keys of service accounts.
@Suite(.timeLimit(.minutes(1)))
struct FCMRequestTests {
  private func make(_ line: String) -> FCMRequestMaker.Made {
    FCMRequestMaker(outputKey: "attache").make(APNsTest.delivery(1, line))
  }

  private func body(of line: String) -> String? {
    if case .request(let request) = make(line) { String(decoding: request.body, as: UTF8.self) } else { nil }
  }

  @Test func `the message is sent as written, and nothing else of the line`() {
    let message = #"{ "token":"t\u0031", "data": {"a":"\ud83d\ude00", "a":"b"},"topic":null }"#
    #expect(body(of: #"{"id":7,"message":\#(message),"x":[1]}"# + "\r\n") == #"{"message":\#(message)}"#)
    #expect(body(of: "\u{FEFF}" + #"{"message":{"topic":"news"}}"#) == #"{"message":{"topic":"news"}}"#)
    #expect(body(of: #"{"validate_only":true,"message":{"topic":"n"}}"#) == #"{"message":{"topic":"n"},"validate_only":true}"#)
    #expect(body(of: #"{"validateOnly":false,"message":{"topic":"n"}}"#) == #"{"message":{"topic":"n"}}"#)
    #expect(body(of: #"{"message":{"topic":"a"},"message":{"topic":"b"}}"#) == #"{"message":{"topic":"b"}}"#)
  }

  @Test func `attachments with file URLs are not sent, and others are`() {
    func line(_ scheme: String) -> String {
      #"{"message":{"token":"t","apns":{"payload":{"aps":{"mutable-content":1},"attache":{"attachments":[{"url":"\#(scheme)a"}]}}}}}"#
    }
    #expect(body(of: line("file:///")) == #"{"message":{"token":"t","apns":{"payload":{"aps":{"mutable-content":1}}}}}"#)
    #expect(body(of: line("https://h/")) == line("https://h/"))
    let maker = FCMRequestMaker(outputKey: "attache")
    _ = maker.make(APNsTest.delivery(1, line("https://h/")))
    #expect(!maker.hasLostMedia)
    _ = maker.make(APNsTest.delivery(1, line("FILE:///")))
    #expect(maker.hasLostMedia)
  }

  @Test(arguments: [
    ("", "the line is not a JSON object"), ("[]", "the line is not a JSON object"), (#"{"message":{"to"#, "the line is not a JSON object"),
    (#"{"aps":{}}"#, "the line is not a message of FCM's HTTP v1 API: it has no object \"message\""),
    (#"{"message":"x"}"#, "the line is not a message of FCM's HTTP v1 API: it has no object \"message\""),
    (
      #"{"registration_ids":["a"],"data":{}}"#,
      "the line is a message of FCM's legacy API, which Google has shut down; write {\"message\":{\"token\":…}}"
    ),
    (#"{"message":{"data":{}}}"#, "the message has no receiver, and must have one of token, topic and condition"),
    (#"{"message":{"token":"","topic":7}}"#, "the message has no receiver, and must have one of token, topic and condition"),
    (#"{"message":{"token":"t","topic":"n"}}"#, "the message has token and topic, and must have one of token, topic and condition"),
  ])
  func `a line that is no message is not sent, with the reason`(line: String, reason: String) {
    if case .nothing(let why) = make(line) { #expect(why == reason) } else { Issue.record("sent") }
  }

  // MARK: - Keys

  private static func key() throws -> ServiceAccount {
    try ServiceAccount(json: Array(GoogleAccount().keyFile(tokenURI: "https://localhost/token").utf8))
  }

  @Test func `a key file has the project, the account and the server`() throws {
    let key = try Self.key()
    #expect(key.projectID == "example-project" && key.tokenURI == "https://localhost/token" && key.email.contains("@"))
    let request = try #require(key.tokenRequest(at: .seconds(1_794_000_000)))
    #expect(request.url == "https://localhost/token")
    let body = String(decoding: request.body, as: UTF8.self)
    #expect(body.hasPrefix("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="))
    #expect(body.split(separator: ".").count == 3 && body.count { $0 == "=" } == 2)
  }

  @Test(arguments: [
    ("{", "it is not a JSON object"), (#"{"project_info":{}}"#, "it is the app's google-services.json"),
    (#"{"type":"authorized_user"}"#, "its type is authorized_user, and must be service_account"), ("{}", "its type is missing"),
    (#"{"type":"service_account"}"#, "it has no project_id"),
    (#"{"type":"service_account","project_id":"a/../b"}"#, "its project_id a/../b is not the identifier of a project"),
    (#"{"type":"service_account","project_id":"a"}"#, "it has no client_email"),
    (#"{"type":"service_account","project_id":"a","client_email":"b"}"#, "it has no token_uri"),
    (
      #"{"type":"service_account","project_id":"a","client_email":"b","token_uri":"http://h/"}"#,
      "its token_uri http://h/ is not an https:// URL"
    ),
    (
      #"{"type":"service_account","project_id":"a","client_email":"b","token_uri":"https://h/","private_key":"x"}"#,
      "its private_key is not an RSA key in PEM form"
    ),
  ])
  func `another file is not taken, with the reason`(text: String, reason: String) {
    #expect(throws: SenderSetupError.self) { try ServiceAccount(json: Array(text.utf8)) }
    do throws(SenderSetupError) {
      _ = try ServiceAccount(json: Array(text.utf8))
    } catch {
      #expect(error.description.hasPrefix(reason))
    }
  }

  @Test func `a key for another algorithm is not taken`() throws {
    let pem = ProviderTokenCheck().privateKeyPEM.replacing("\n", with: "\\n")
    let text = #"{"type":"service_account","project_id":"a","client_email":"b","token_uri":"https://h/","private_key":"\#(pem)"}"#
    #expect(throws: SenderSetupError("its private_key is not an RSA key in PEM form")) { try ServiceAccount(json: Array(text.utf8)) }
  }

  // MARK: - Access tokens

  private func read(_ body: String, status: Int = 200) -> AccessToken? {
    AccessToken(HTTPReply(status: status, body: Array(body.utf8)), number: 1, at: .seconds(100), JSONParser())
  }

  @Test func `an access token is used to its end, and due five minutes before`() throws {
    let token = try #require(read(#"{"access_token":"abc","expires_in":3599,"token_type":"Bearer"}"#))
    #expect(!token.isDue(at: .seconds(100 + 3_298)) && token.isDue(at: .seconds(100 + 3_299)))
    #expect(token.isUsable(at: .seconds(100 + 3_598)) && !token.isUsable(at: .seconds(100 + 3_599)))
  }

  @Test func `what is no access token is not taken: it would become a header field`() {
    for body in [
      "", "{}", #"{"access_token":""}"#, #"{"access_token":"a b"}"#, #"{"access_token":"a\r\nX: y"}"#, #"{"access_token":7}"#,
      #"{"access_token":"\#(String(repeating: "a", count: 16_385))"}"#,
    ] {
      #expect(read(body) == nil)
    }
    #expect(read(#"{"access_token":"a"}"#, status: 400) == nil)
  }

  @Test(arguments: ["-9223372036854775808", "9223372036854775807", "1e300", "\"x\"", "null", "-1"])
  func `any life of an access token is read`(life: String) {
    #expect(read(#"{"access_token":"a","expires_in":\#(life)}"#) != nil)
  }
}
