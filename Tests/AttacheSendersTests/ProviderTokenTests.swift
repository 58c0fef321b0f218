import AttacheQueue
import AttacheTesting
import Testing

@testable import AttacheSenders

/// The tokens by which a provider authenticates itself.
@Suite(.timeLimit(.minutes(1)))
struct ProviderTokenTests {
  @Test func `a token is issued at the start of a slot of 20 minutes, and used until its end`() {
    var state = ProviderTokenState()
    #expect(state.isDue(at: .seconds(1_211)) && !state.isUsable(at: .seconds(1_211)))
    #expect([0, 1_199, 1_200, 2_399].map { ProviderTokenState.start(at: .seconds($0)) } == [0, 0, 1_200, 1_200].map { .seconds($0) })
    state.take([1], at: .seconds(1_211))
    #expect([1_199, 1_200, 2_399, 2_400].map { state.isDue(at: .seconds($0)) } == [true, false, false, true])
    // If no other can be signed, it is used for 20 minutes more.
    #expect([1_199, 1_200, 3_600, 3_601].map { state.isUsable(at: .seconds($0)) } == [false, true, true, false])
    state.take([2], at: .seconds(2_500))
    #expect(state.number == 2)
  }

  @Test func `processes that start at different times of a slot have tokens with equal claims`() throws {
    let key = try ProviderKey(SigningKey(pem: ProviderTokenCheck().privateKeyPEM), keyID: "KEY", teamID: "TEAM")
    let tokens = try [1_794_000_001, 1_794_000_599].map { seconds in
      let token = try #require(key.authorization(issuedAt: ProviderTokenState.start(at: .seconds(seconds))))
      return String(decoding: token, as: UTF8.self).split(separator: ".")
    }
    #expect(tokens[0][0] == tokens[1][0] && tokens[0][1] == tokens[1][1] && tokens[0][2] != tokens[1][2])
  }

  @Test func `a token that Apple calls expired is replaced, at most every 20 minutes`() {
    var state = ProviderTokenState()
    state.take([1], at: .zero)
    // The second request was sent with the same token.
    let first = [state.reject(1, at: .seconds(60)), state.reject(1, at: .seconds(60))]
    #expect(first == [.sendAgain, .sendAgain])
    #expect(state.value == nil)
    #expect(state.isDue(at: .seconds(60)))
    state.take([2], at: .seconds(60))
    let late = state.reject(1, at: .seconds(61))
    #expect(late == .sendAgain)
    #expect(state.value == [2])
    let second = [state.reject(2, at: .seconds(62)), state.reject(2, at: .seconds(60 + 1_200))]
    #expect(second == [.refuse, .sendAgain])
  }

  @Test func `a server that verifies tokens takes ours, and each slot of 20 minutes has one`() async throws {
    let clock = ManualClock()
    let tokens = ProviderTokenCheck(now: { Double(clock.wall.components.seconds) })
    let server = try await PushServer.startAPNs(tokens: tokens)
    try await APNsTest.run(server, clock: clock, tokens: tokens) { test in
      let start = clock.wall
      for number in 0..<6 {
        test.sender.send([APNsTest.delivery(Int64(number), APNsTest.line(number))])
        await test.recorder.waitForAnswers(count: number + 1)
        clock.pass(.seconds(8 * 60))
      }
      #expect(test.recorder.answers.values.allSatisfy { $0 == [.delivered(status: "200")] })
      let used = server.requests.compactMap { $0.field("authorization") }
      try #require(used.count == 6)
      let slots = (0..<6).map { ProviderTokenState.start(at: start + .seconds($0 * 8 * 60)) }
      for (one, other) in zip(0..<5, 1..<6) { #expect((used[one] == used[other]) == (slots[one] == slots[other])) }
      #expect(Set(slots).count == 3)
      #expect(used.allSatisfy { $0.hasPrefix("bearer ey") })
    }
  }

  @Test func `a token that Apple calls expired is made anew, and the payload is sent again at once as the same`() async throws {
    let server = try await PushServer.startAPNs { request in request.attempt == 1 ? .error(403, "ExpiredProviderToken") : .delivered }
    try await APNsTest.run(server) { test in
      #expect(await test.answers(to: (0..<5).map { APNsTest.line($0) }) == Array(repeating: .delivered(status: "200"), count: 5))
      #expect(server.attempts.values.allSatisfy { $0 == 2 } && server.attempts.count == 5)
      let used = server.requests.compactMap { $0.field("authorization") }
      #expect(Set(used).count == 2)
    }
  }

  @Test func `a token that stays expired is the user's to look at`() async throws {
    let server = try await PushServer.startAPNs { _ in .error(403, "ExpiredProviderToken") }
    try await APNsTest.run(server) { test in
      let answer = await test.answers(to: [APNsTest.line()]).first
      #expect(answer == .refused(reason: "403 ExpiredProviderToken: the provider token is too old; check this machine's clock"))
      #expect(server.requestCount == 2)
    }
  }

  @Test(arguments: ["wrong key", "wrong key id", "wrong team id"])
  func `a key that is not the team's is refused in words`(mistake: String) async throws {
    let tokens = ProviderTokenCheck()
    let server = try await PushServer.startAPNs(tokens: mistake == "wrong key" ? ProviderTokenCheck() : tokens)
    try await APNsTest.run(server, tokens: tokens) { configuration in
      guard let key = try? SigningKey(pem: tokens.privateKeyPEM) else { return }
      if mistake == "wrong key id", let wrong = try? ProviderKey(key, keyID: "WRONG12345", teamID: tokens.teamID) {
        configuration.credentials = .key(wrong)
      }
      if mistake == "wrong team id", let wrong = try? ProviderKey(key, keyID: tokens.keyID, teamID: "WRONG12345") {
        configuration.credentials = .key(wrong)
      }
    } _: { test in
      let answer = await test.answers(to: [APNsTest.line()]).first
      #expect(
        answer
          == .refused(
            reason: "403 InvalidProviderToken: the provider token is invalid or its signature is wrong; "
              + "check --apns-key, --apns-key-id and --apns-team-id"))
    }
  }

  /// A key with a passphrase, and one for P-384.
  private static let otherKeys = [
    """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAit8+t06NT4IwICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEP9YCggx2gK94cWhJmUXVJ8EgZBZ
    KEGqbBKAGSyqb5M9VYg/AGNWmYay8+lLyLNgV2cnRYSw8XCJKhFx6eTInxtlxlcQ
    eOJATwUYOm3iMaMLYdElYGf9ERR9kk6WrCCmsx9f8aWvHsik1NOCEalVaa1IaKsK
    9CAGUq+n6YwN3hc+AEzVYA7cwJHmx4/VlLbujIRPEvxiUMJtwXIegxnyt7n2DkI=
    -----END ENCRYPTED PRIVATE KEY-----
    """,
    """
    -----BEGIN PRIVATE KEY-----
    MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDC9WDyCRL8wY7Zs80Uy
    OkXqVx+In/B1WVxPddZ1qIm3c0B6DodQ4qj/W2rXk5VXuCWhZANiAARr76fG1rxd
    e7tyIGhvp6HkUMqB809hfFmgISf4oBQZQk+A3RfjKBAobO564byLrat+YSHjZcDx
    vfkx2gHAtGqgdcIJ1TgApOrZswwxzYwelO9YuK8UKKcXaq8G/oTjasE=
    -----END PRIVATE KEY-----
    """,
  ]

  @Test(arguments: ["", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] + otherKeys)
  func `what is no P-256 key is refused before anything is sent`(text: String) {
    #expect(throws: SenderSetupError.self) { try SigningKey(pem: text) }
  }

  @Test(arguments: ["", "ABC 123", "ABC\"123", String(repeating: "A", count: 65)])
  func `an identifier is letters and digits`(identifier: String) throws {
    let key = try SigningKey(pem: ProviderTokenCheck().privateKeyPEM)
    #expect(throws: SenderSetupError.self) { try ProviderKey(key, keyID: identifier, teamID: "TEAM") }
    #expect(throws: SenderSetupError.self) { try ProviderKey(key, keyID: "KEY", teamID: identifier) }
  }
}
