import Attache
import AttacheQueue
import AttacheTesting
import Testing

@testable import AttacheSenders

/// The consequence of each answer that Apple documents.
@Suite(.timeLimit(.minutes(1)))
struct VerdictTests {
  enum Expected: Sendable {
    case dropped, invalidToken, retry, refused
  }

  /// Sources:
  /// https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns,
  /// https://developer.apple.com/documentation/usernotifications/handling-error-responses-from-apns
  static let documented: [(status: Int, reason: String, expected: Expected)] = [
    (400, "BadChannelId", .dropped), (400, "ChannelNotRegistered", .dropped), (400, "FeatureNotEnabled", .refused),
    (400, "MissingChannelId", .dropped), (400, "MissingPushType", .dropped),
    (400, "BadCollapseId", .dropped), (400, "BadDeviceToken", .invalidToken), (400, "BadExpirationDate", .dropped),
    (400, "BadMessageId", .dropped), (400, "BadPriority", .dropped), (400, "BadTopic", .refused),
    (400, "DeviceTokenNotForTopic", .invalidToken),
    (400, "DuplicateHeaders", .dropped), (400, "IdleTimeout", .retry), (400, "InvalidPushType", .dropped),
    (400, "MissingDeviceToken", .dropped),
    (400, "MissingTopic", .refused), (400, "PayloadEmpty", .dropped), (400, "TopicDisallowed", .refused), (403, "BadCertificate", .refused),
    (403, "BadCertificateEnvironment", .refused), (403, "BadEnvironmentKeyIdInToken", .refused),
    (403, "BadEnvironmentKeyInToken", .refused),
    (403, "ExpiredProviderToken", .refused), (403, "Forbidden", .refused), (403, "InvalidProviderToken", .refused),
    (403, "MissingProviderToken", .refused), (403, "UnrelatedKeyIdInToken", .refused), (404, "BadPath", .dropped),
    (405, "MethodNotAllowed", .dropped), (410, "ExpiredToken", .invalidToken), (410, "Unregistered", .invalidToken),
    (413, "PayloadTooLarge", .dropped), (429, "TooManyProviderTokenUpdates", .refused), (429, "TooManyRequests", .retry),
    (500, "InternalServerError", .retry), (503, "ServiceUnavailable", .retry), (503, "Shutdown", .retry),
  ]

  @Test func `every documented status and reason has its consequence, over the wire`() async throws {
    let file = try TestFile()
    let server = try await PushServer.startAPNs { request in
      let answer = Self.documented[Int(request.deviceToken.suffix(4)) ?? 0]
      return .error(answer.status, answer.reason, timestamp: answer.status == 410 ? 1_794_000_000_000 : nil)
    }
    try await APNsTest.run(server) { configuration in
      configuration.invalidTokens = file.path
    } _: { test in
      let answers = await test.answers(to: Self.documented.indices.map { APNsTest.line($0) })
      try #require(answers.count == Self.documented.count)
      for (answer, documented) in zip(answers, Self.documented) {
        let name = "\(documented.status) \(documented.reason): "
        switch (answer, documented.expected) {
        case (.dropped(let reason), .dropped), (.dropped(let reason), .invalidToken), (.retry(nil, let reason), .retry),
          (.refused(let reason), .refused):
          #expect(reason.hasPrefix(name) && reason.utf8.count > name.utf8.count + 10)
        default: Issue.record("\(name)\(answer)")
        }
      }
    }
    let invalid = Self.documented.indices.filter { Self.documented[$0].expected == .invalidToken }
    #expect(
      try Set(file.lines())
        == Set(
          invalid.map { index in
            let documented = Self.documented[index]
            let token = APNsTest.line(index).split(separator: "\"").first { $0.utf8.count == 64 } ?? ""
            let timestamp = documented.status == 410 ? #","timestamp":1794000000000"# : ""
            return #"{"token":"\#(token)","reason":"\#(documented.reason)"\#(timestamp)}"#
          }))
    #expect(file.mode == 0o600)
  }

  @Test func `the table has each documented answer once, with 200 before them`() {
    let table = APNsVerdict.table
    #expect(table.first?.status == 200)
    #expect(
      table.dropFirst().map { "\($0.status) \($0.reason ?? "")" }.sorted() == Self.documented.map { "\($0.status) \($0.reason)" }.sorted())
  }

  @Test(arguments: [
    (200, APNsVerdict.Consequence.delivered), (400, .dropped), (401, .refused), (403, .refused), (404, .dropped), (408, .retry),
    (410, .invalidToken),
    (418, .dropped), (429, .retry), (500, .retry), (502, .retry), (599, .retry), (201, .refused), (302, .refused), (0, .refused),
    (999, .refused),
  ])
  func `an answer without a known reason goes by its status`(status: Int, consequence: APNsVerdict.Consequence) {
    for reason in [nil, "Newfangled", "Unregistered\u{301}"] {
      #expect(APNsVerdict.of(APNsReply(status: status, reason: reason)).consequence == consequence)
    }
  }

  @Test(arguments: [
    (403, "FeatureNotEnabled", APNsVerdict.Consequence.refusedTopic), (403, "ChannelNotRegistered", .dropped),
    (400, "Unregistered", .invalidToken),
    (500, "BadChannelId", .retry), (200, "BadChannelId", .delivered),
  ])
  func `a documented reason counts with any status from 400 to 499`(
    status: Int, reason: String, consequence: APNsVerdict.Consequence
  ) {
    #expect(APNsVerdict.of(APNsReply(status: status, reason: reason)).consequence == consequence)
  }

  @Test func `a topic of the payload's own that Apple refuses drops that payload, and stops no other`() async throws {
    let server = try await PushServer.startAPNs()
    try await APNsTest.run(server) { test in
      let token = String(repeating: "0a", count: 32)
      let payload = #""payload":{"aps":{"alert":"hi"}}"#
      let answers = await test.answers(to: [
        #"{"message":{"token":"\#(token)","apns":{"headers":{"apns-topic":"org.other"},\#(payload)}}}"#,
        #"{"message":{"token":"\#(token)","apns":{"headers":{"apns-topic":"com.example.app"},\#(payload)}}}"#,
      ])
      guard case .dropped(let reason) = answers.first else { return #expect(Bool(false), "\(answers)") }
      #expect(reason.hasPrefix("400 TopicDisallowed: "))
      #expect(answers.last == .delivered(status: "200"))
    }
  }

  @Test func `a broadcast that Apple accepts says nothing of the device tokens`() async throws {
    let server = try await PushServer.startAPNs(channels: ["Y2g="]) { $0.app == nil ? .error(400, "BadDeviceToken") : .delivered }
    try await APNsTest.run(server) {
      $0.channelPath = JSONPointer("channel")
    } _: { test in
      _ = await test.answers(to: [#"{"aps":{"event":"update","content-state":{}},"channel":"Y2g="}"#])
      _ = await test.answers(to: (0..<10).map { APNsTest.line($0) })
      await test.recorder.waitForAnswers(count: 11)
      #expect(test.recorder.notices.count == 1)
    }
  }

  @Test func `the user hears of it once when every device token is bad, as in the wrong environment`() async throws {
    let server = try await PushServer.startAPNs { _ in .error(400, "BadDeviceToken") }
    try await APNsTest.run(server) { test in
      _ = await test.answers(to: (0..<9).map { APNsTest.line($0) })
      #expect(test.recorder.notices == [])
      _ = await test.answers(to: (0..<25).map { APNsTest.line($0) })
      await test.recorder.waitForAnswers(count: 34)
      #expect(test.recorder.notices.count == 1)
      #expect(test.recorder.notices.first?.contains("--apns-sandbox") == true)
    }
  }

  @Test(arguments: [("7", Duration.seconds(7)), ("0", .zero), ("999999999", .seconds(86_400))])
  func `a retry waits as long as the server asks`(value: String, pause: Duration) async throws {
    let server = try await PushServer.startAPNs { _ in .error(503, "Shutdown", retryAfter: value) }
    try await APNsTest.run(server) { test in
      guard case .retry(let after, _) = await test.answers(to: [APNsTest.line()]).first else { return #expect(Bool(false)) }
      #expect(after == pause)
    }
  }

  @Test(arguments: ["-1", "1e3", "99999999999999999999", "Fri, 31 Dec 1999 23:59:59 GMT", "0x10", ""])
  func `a pause that is no number of seconds is none`(value: String) async throws {
    let server = try await PushServer.startAPNs { _ in .error(503, "Shutdown", retryAfter: value) }
    try await APNsTest.run(server) { test in
      guard case .retry(let after, _) = await test.answers(to: [APNsTest.line()]).first else { return #expect(Bool(false)) }
      #expect(after == nil)
    }
  }

  @Test(arguments: [
    "", "{", "[]", "null", "{\"reason\":7}", "{\"reason\":\"Bad\\u0000Path\"}", "{\"reason\":\"\u{1B}[31m\"}", "\u{FF}",
    "{\"reason\":\"Unregistered\",\"timestamp\":1e400}", "{\"timestamp\":-5,\"reason\":\"" + String(repeating: "A", count: 3_000) + "\"}",
  ])
  func `a body that makes no sense is as good as none`(body: String) async throws {
    let server = try await PushServer.startAPNs { _ in .body(404, Array(body.utf8)) }
    try await APNsTest.run(server) { test in
      guard case .dropped(let reason) = await test.answers(to: [APNsTest.line()]).first else { return #expect(Bool(false)) }
      #expect(reason.hasPrefix("404: ") || reason.hasPrefix("404 Unregistered: "))
      #expect(reason.utf8.allSatisfy { 0x20...0x7E ~= $0 })
    }
  }
}
