import Attache
import AttacheQueue
import AttacheTesting
import Synchronization
import Testing

@testable import AttacheSenders

/// Messages to a server with Google's protocol.
@Suite(.timeLimit(.minutes(2)))
struct FCMSenderTests {
  private let account = GoogleAccount()

  @Test func `many messages are streams of few connections, with one access token`() async throws {
    let server = try await PushServer.startFCM(account: account)
    try await FCMTest.run(server, account) { test in
      let answers = await test.answers(to: (0..<200).map { FCMTest.line($0) })
      #expect(answers == Array(repeating: .delivered(status: "200"), count: 200))
      #expect(Set(server.requests.map(\.deviceToken)) == Set((0..<200).map(FCMTest.token)))
      #expect(server.requests.allSatisfy { $0.path == "/v1/projects/example-project/messages:send" })
      #expect(server.tokenCount == 1)
      #expect(server.mostStreams > 10)
      #expect(server.connectionCount <= 4)
    }
  }

  @Test func `an access token that Google accepts no longer is replaced, and the message is sent again at once`() async throws {
    let server = try await PushServer.startFCM(account: account)
    try await FCMTest.run(server, account) { test in
      #expect(await test.answers(to: [FCMTest.line()]) == [.delivered(status: "200")])
      server.revokeTokens()
      #expect(await test.answers(to: (1...5).map { FCMTest.line($0) }) == Array(repeating: .delivered(status: "200"), count: 5))
      #expect(server.tokenCount == 2)
    }
  }

  @Test func `a message that a new access token does not help is refused, and the next one gets another token`() async throws {
    let isBroken = Atomic(true)
    let server = try await PushServer.startFCM(account: account) { _ in
      isBroken.load(ordering: .relaxed) ? .error(401, nil) : .delivered
    }
    try await FCMTest.run(server, account) { test in
      guard case .refused(let reason) = await test.answers(to: [FCMTest.line()]).first else {
        Issue.record("not refused")
        return
      }
      #expect(reason.hasPrefix("401 UNAUTHENTICATED: Google does not accept the access token"))
      #expect(server.requestCount == 2 && server.tokenCount == 2)
      isBroken.store(false, ordering: .relaxed)
      #expect(await test.answers(to: [FCMTest.line()]) == [.delivered(status: "200")])
      #expect(server.tokenCount == 3)
    }
  }

  @Test func `an access token is renewed five minutes before its end`() async throws {
    let clock = ManualClock()
    let account = GoogleAccount(now: { clock.wall / .seconds(1) })
    let server = try await PushServer.startFCM(account: account)
    try await FCMTest.run(server, account, clock: clock) { test in
      _ = await test.answers(to: [FCMTest.line()])
      clock.pass(.seconds(3_290))
      _ = await test.answers(to: [FCMTest.line()])
      #expect(server.tokenCount == 1)
      clock.pass(.seconds(10))
      _ = await test.answers(to: [FCMTest.line()])
      _ = await test.answers(to: [FCMTest.line()])
      #expect(server.tokenCount == 2)
    }
  }

  @Test func `a key that Google does not know pauses, and says what to check`() async throws {
    let server = try await PushServer.startFCM(account: account)
    let other = GoogleAccount()
    try await FCMTest.run(server, other) { test in
      let answers = await test.answers(to: [FCMTest.line(1), FCMTest.line(2)])
      for answer in answers {
        guard case .refused(let reason) = answer else {
          Issue.record("\(answer)")
          return
        }
        #expect(reason.contains("/token issues no access token: status 400 (invalid_grant"))
        #expect(reason.hasSuffix("check the key of --fcm-service-account, and this machine's clock"))
      }
      #expect(server.requestCount == 0)
    }
  }

  @Test func `a connection that answers nothing is replaced after a request's time`() async throws {
    let server = try await PushServer.startFCM(account: account) { $0.connection == 1 ? .hold : .delivered }
    try await FCMTest.run(server, account) { configuration in
      configuration.answerTimeout = .milliseconds(500)
    } _: { test in
      guard case .retry(nil, _) = await test.answers(to: [FCMTest.line(1)]).first else {
        Issue.record("no retry")
        return
      }
      #expect(await test.answers(to: (1...9).map { FCMTest.line($0) }) == Array(repeating: .delivered(status: "200"), count: 9))
      #expect(server.connectionCount == 2)
    }
  }

  @Test func `connections that are reset lose no message`() async throws {
    let server = try await PushServer.startFCM(account: account, maximumStreams: 10)
    try await FCMTest.run(server, account) { test in
      test.recorder.sendAgain((1...500).map { APNsTest.delivery($0, FCMTest.line(Int($0))) }, by: test.sender)
      for count in [50, 150, 300] {
        await server.waitForRequests(count: count)
        await server.resetConnections()
      }
      await test.recorder.waitForDelivered(count: 500)
      #expect(server.delivered.count == 500)
    }
  }

  // MARK: - Answers

  @Test func `a message of another sender is listed when Google accepts a message, and the third in a row lists none`() async throws {
    let file = try TestFile()
    let isRight = Atomic(false)
    let server = try await PushServer.startFCM(account: account) { request in
      isRight.load(ordering: .relaxed) && request.deviceToken == FCMTest.token(9) ? .delivered : .error(403, "SENDER_ID_MISMATCH")
    }
    try await FCMTest.run(server, account) {
      $0.invalidTokens = file.path
    } _: { test in
      var lines: [String] = []
      var kinds: [String] = []
      for answer in await test.answers(to: (1...4).map { FCMTest.line($0) }) {
        switch answer {
        case .retry(nil, let reason), .refused(let reason):
          #expect(reason.hasPrefix("403 SENDER_ID_MISMATCH: the registration token belongs to another project"))
          kinds.append(answer == .retry(after: nil, reason: reason) ? "retry" : "refused")
        default: Issue.record("\(answer)")
        }
      }
      #expect(kinds.sorted() == ["refused", "refused", "retry", "retry"])
      isRight.store(true, ordering: .relaxed)
      _ = await test.answers(to: [FCMTest.line(9)])
      lines = try file.lines()
      #expect(lines == [])
      _ = await test.answers(to: [FCMTest.line(1), FCMTest.line(2)])
      lines = try file.lines()
      #expect(lines == [])
      _ = await test.answers(to: [FCMTest.line(9)])
      lines = try file.lines()
      #expect(lines == [])
      for answer in await test.answers(to: [FCMTest.line(1), FCMTest.line(2)]) {
        guard case .dropped = answer else {
          Issue.record("\(answer)")
          return
        }
      }
      lines = try file.lines()
      #expect(
        Set(lines)
          == Set([1, 2].map { #"{"token":"\#(FCMTest.token($0))","reason":"SENDER_ID_MISMATCH"}"# }))
    }
  }

  @Test func `a message to a topic, which the wrong project may send, tells nothing of the tokens`() async throws {
    let server = try await PushServer.startFCM(account: account) { request in
      request.deviceToken.isEmpty ? .delivered : .error(403, "SENDER_ID_MISMATCH")
    }
    try await FCMTest.run(server, account) { test in
      let topic = #"{"message":{"topic":"news","notification":{"title":"T"}}}"#
      for _ in 0..<2 {
        guard case .retry(nil, _) = await test.answers(to: [FCMTest.line(1)]).first else {
          Issue.record("\(test.recorder.answers)")
          return
        }
        #expect(await test.answers(to: [topic]) == [.delivered(status: "200")])
      }
    }
  }

  @Test func `an access token that has ended already pauses, and one with a short life is used`() async throws {
    for (life, count) in [(0, 1), (60, 1)] {
      let account = GoogleAccount(accessTokenLifetime: life)
      let server = try await PushServer.startFCM(account: account)
      try await FCMTest.run(server, account) { test in
        let answers = await test.answers(to: [FCMTest.line(1)])
        if life == 0 {
          guard case .refused(let reason) = answers.first else {
            Issue.record("\(answers)")
            return
          }
          #expect(reason.hasSuffix("issues an access token that has ended already"))
        } else {
          #expect(await answers + test.answers(to: [FCMTest.line(2)]) == [.delivered(status: "200"), .delivered(status: "200")])
        }
        #expect(server.tokenCount == count)
      }
    }
  }

  @Test func `the answers of Google have their consequences, over the wire`() async throws {
    let file = try TestFile()
    let answers: [PushServerAnswer] = [
      .error(404, "UNREGISTERED"), .error(400, "INVALID_ARGUMENT"), .error(429, "QUOTA_EXCEEDED"),
      .error(429, "QUOTA_EXCEEDED", retryAfter: "7"), .error(503, "UNAVAILABLE", retryAfter: "9"), .error(500, "INTERNAL"),
      .error(401, "THIRD_PARTY_AUTH_ERROR"), .error(403, nil), .error(502, nil), .error(418, nil),
      .body(200, Array("<html>welcome</html>".utf8)), .body(400, Array("<html>".utf8)),
    ]
    let server = try await PushServer.startFCM(account: account) { answers[(Int($0.deviceToken.suffix(4)) ?? 1) - 1] }
    try await FCMTest.run(server, account) {
      $0.invalidTokens = file.path
    } _: { test in
      let given = await test.answers(to: answers.indices.map { FCMTest.line($0 + 1) })
      let kinds = given.map { answer in
        switch answer {
        case .dropped: "dropped"
        case .retry(let span, _): "retry \(span.map { "\($0.components.seconds)" } ?? "")"
        case .refused: "refused"
        case .rejected: "rejected"
        default: "\(answer)"
        }
      }
      #expect(
        kinds == [
          "dropped", "dropped", "retry 60", "retry 7", "retry 9", "retry ", "retry ", "refused", "retry ", "rejected", "refused", "refused",
        ])
      #expect(test.recorder.slowdowns == 2)
      #expect(test.recorder.notices.count { $0.contains("THIRD_PARTY_AUTH_ERROR") } == 1)
      let lines = try file.lines()
      #expect(lines == [#"{"token":"\#(FCMTest.token(1))","reason":"UNREGISTERED"}"#])
    }
  }

  @Test func `a registration token that Google calls malformed is listed`() async throws {
    let file = try TestFile()
    let server = try await PushServer.startFCM(account: account)
    try await FCMTest.run(server, account) {
      $0.invalidTokens = file.path
    } _: { test in
      guard case .dropped(let reason) = await test.answers(to: [#"{"message":{"token":"no token"}}"#]).first else {
        Issue.record("not dropped")
        return
      }
      #expect(reason.hasPrefix("400 INVALID_ARGUMENT: the registration token is invalid"))
      let lines = try file.lines()
      #expect(lines == [#"{"token":"no token","reason":"INVALID_ARGUMENT"}"#])
    }
  }
}
