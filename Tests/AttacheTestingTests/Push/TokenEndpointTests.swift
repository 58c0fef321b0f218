import AttacheTesting
import Foundation
import Synchronization
import Testing

/// The access tokens of ``PushServer`` as Google's push service.
@Suite(.timeLimit(.minutes(1)))
struct TokenEndpointTests {
  private static let time = 1_794_000_000
  /// At a fixed time, in seconds since 1970.
  private static let account = GoogleAccount(now: { Double(time) })

  @Test func `an assertion that the account's key has signed gets a token, which is not counted as a push`() async throws {
    try await FCMClient.run(Self.account) { client in
      let answer = try await client.requestToken(FCMClient.Assertion(client, at: Self.time).signed(by: client.account))
      #expect(answer.status == 200)
      #expect(answer.members["expires_in"] as? Int == 3_599)
      #expect(answer.members["token_type"] as? String == "Bearer")
      #expect((answer.members["access_token"] as? String ?? "").utf8.count > 40)
      #expect(client.server.tokenCount == 1 && client.server.requestCount == 0 && client.server.requests.isEmpty)
    }
  }

  @Test func `the limits of the times belong to what is accepted`() async throws {
    try await FCMClient.run(Self.account) { client in
      for (issuedAt, end) in [(-300, 3_300), (300, 3_900), (-300, 1)] {
        var assertion = FCMClient.Assertion(client, at: Self.time + issuedAt)
        assertion.claims["exp"] = "\(Self.time + end)"
        let answer = try await client.requestToken(assertion.signed(by: client.account))
        #expect(answer.status == 200, "\(issuedAt) \(end)")
      }
    }
  }

  @Test(arguments: [
    ("alg", "\"ES256\"", "invalid_grant"), ("kid", "\"other\"", "invalid_grant"), ("iss", "\"other@example.com\"", "invalid_grant"),
    ("aud", "\"https://oauth2.googleapis.com/token\"", "invalid_grant"), ("iat", "\(time - 301)", "invalid_grant"),
    ("iat", "\(time + 301)", "invalid_grant"), ("iat", "\"\(time)\"", "invalid_grant"), ("exp", "\(time)", "invalid_grant"),
    ("exp", "\(time + 3_601)", "invalid_grant"), ("scope", "\"https://www.googleapis.com/auth/firebase\"", "invalid_scope"),
  ])
  func `a wrong member of an assertion gets no token`(name: String, value: String, error: String) async throws {
    try await FCMClient.run(Self.account) { client in
      var assertion = FCMClient.Assertion(client, at: Self.time)
      if assertion.header[name] != nil { assertion.header[name] = value } else { assertion.claims[name] = value }
      let answer = try await client.requestToken(assertion.signed(by: client.account))
      #expect(answer.status == 400)
      #expect(answer.members["error"] as? String == error)
      #expect(answer.members["error_description"] is String)
      #expect(client.server.tokenCount == 0)
    }
  }

  @Test func `another key, another grant and no assertion get no token`() async throws {
    try await FCMClient.run(Self.account) { client in
      let assertion = FCMClient.Assertion(client, at: Self.time)
      let answers = [
        try await client.requestToken(assertion.signed(by: GoogleAccount())),
        try await client.requestToken(assertion.signed(by: client.account), grantType: "password"),
        try await client.requestToken("x.y"), try await client.requestToken("x&assertion=y"),
      ]
      #expect(answers.map(\.status) == [400, 400, 400, 400])
      #expect(
        answers.map { $0.members["error"] as? String } == ["invalid_grant", "unsupported_grant_type", "invalid_grant", "invalid_request"])
    }
  }

  @Test func `a token is good until its end or its revocation`() async throws {
    let passed = Mutex(0.0)
    let account = GoogleAccount(accessTokenLifetime: 100, now: { Double(Self.time) + passed.withLock { $0 } })
    try await FCMClient.run(account) { client in
      let body = #"{"message":{"topic":"weather"}}"#
      let first = try await client.accessToken(at: Self.time)
      passed.withLock { $0 = 99 }
      #expect(try await client.send(body, token: first).status == 200)
      passed.withLock { $0 = 100 }
      #expect(try await client.send(body, token: first).status == 401)
      let second = try await client.accessToken(at: Self.time + 100)
      #expect(try await client.send(body, token: second).status == 200)
      client.server.revokeTokens()
      let refused = try await client.send(body, token: second)
      #expect(refused.status == 401 && refused.statusName == "UNAUTHENTICATED" && refused.types.isEmpty)
      #expect(client.server.tokenCount == 2)
    }
  }

  @Test func `a key file has what Google's has`() throws {
    let account = GoogleAccount(projectID: "p")
    let text = account.keyFile(tokenURI: "https://localhost:1/token")
    let file = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: String])
    #expect(file["type"] == "service_account" && file["project_id"] == "p" && file["token_uri"] == "https://localhost:1/token")
    #expect(file["private_key"] == account.privateKeyPEM && account.privateKeyPEM.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    #expect(file["client_email"] == account.clientEmail && file["private_key_id"] == account.privateKeyID)
  }
}
