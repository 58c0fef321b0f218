import Attache
import AttacheQueue
import AttacheTesting
import Testing

@testable import AttacheSenders

/// Broadcasts to the channels of Live Activities, against a server with Apple's rules.
@Suite(.timeLimit(.minutes(1)))
struct BroadcastTests {
  private static let channel = "dHN0LXNyY2gtY2hubA=="
  private static let aps = #""aps":{"timestamp":1794000000,"event":"update","content-state":{"goals":1}}"#

  private static func line(_ members: String = "") -> String { "{\(aps)\(members)}" }

  /// Sends lines, and returns their answers and what the server received.
  private static func send(
    _ lines: [String], change: @escaping (inout APNsConfiguration) -> Void = { _ in }
  ) async throws -> (answers: [DeliveryAnswer], requests: [APNsRequest]) {
    let server = try await APNsServer.start(channels: [channel])
    var answers: [DeliveryAnswer] = []
    try await APNsTest.run(server) { configuration in
      configuration.channelPath = JSONPointer("channel")
      change(&configuration)
    } _: { test in
      answers = await test.answers(to: lines)
    }
    return (answers, server.requests)
  }

  @Test func `a line with a channel goes to the app's broadcasts, without its channel and without a topic`() async throws {
    let (answers, requests) = try await Self.send([Self.line(#","channel":"\#(Self.channel)","token":"00ff""#)])
    #expect(answers == [.delivered(status: "200")])
    let request = try #require(requests.first)
    #expect(request.path == "/4/broadcasts/apps/com.example.app")
    #expect(String(decoding: request.body, as: UTF8.self) == Self.line())
    let fields = Dictionary(uniqueKeysWithValues: request.fields.filter { $0.name.hasPrefix("apns-") }.map { ($0.name, $0.value) })
    #expect(
      fields == [
        "apns-request-id": PushIdentifier(queue: "sqlite:/push.db", payload: 1).text, "apns-channel-id": Self.channel,
        "apns-push-type": "liveactivity", "apns-priority": "10", "apns-expiration": "0",
      ])
  }

  @Test(arguments: ["com.example.app", "com.example.app.push-type.liveactivity"])
  func `the topic may have its suffix, which is no part of the bundle identifier`(topic: String) async throws {
    let (answers, requests) = try await Self.send([Self.line(#","channel":"\#(Self.channel)""#)]) { $0.topic = topic }
    #expect(answers == [.delivered(status: "200")])
    #expect(requests.map(\.path) == ["/4/broadcasts/apps/com.example.app"])
  }

  @Test func `a line without a channel goes to its device, and one without either is dropped`() async throws {
    let token = String(repeating: "0a", count: 32)
    let (answers, requests) = try await Self.send([Self.line(#","token":"\#(token)""#), Self.line(), Self.line(#","channel":"""#)])
    #expect(answers.first == .delivered(status: "200"))
    #expect(requests.map(\.path) == ["/3/device/\(token)"])
    let reason =
      "no device token, and no channel at /channel; write one per line in an envelope, or give its path with --apns-token-path"
    #expect(answers.dropFirst() == [.dropped(reason: reason), .dropped(reason: reason)])
  }

  @Test(arguments: [5_120, 5_121])
  func `a broadcast has at most 5,120 bytes`(count: Int) async throws {
    let bare = #"{"aps":{"event":"update","content-state":{"text":""}}}"#
    let text = String(repeating: "x", count: count - bare.utf8.count)
    let line = #"{"aps":{"event":"update","content-state":{"text":"\#(text)"}},"channel":"\#(Self.channel)"}"#
    let (answers, requests) = try await Self.send([line])
    if count == 5_120 {
      #expect(answers == [.delivered(status: "200")])
      #expect(requests.first?.body.count == 5_120)
    } else {
      #expect(
        answers == [.dropped(reason: "PayloadTooLarge: the payload has 5121 bytes, and APNs accepts 5120; see --max-payload")])
      #expect(requests.isEmpty)
    }
  }

  @Test(arguments: ["two words", "Kanäle==", "a\\nb", String(repeating: "A", count: 256)])
  func `what is no channel is not sent`(channel: String) async throws {
    let (answers, requests) = try await Self.send([Self.line(#","channel":"\#(channel)""#)])
    guard case .dropped(let reason) = answers.first else { return #expect(Bool(false), "\(answers)") }
    #expect(reason.hasPrefix("BadChannelId: "))
    #expect(requests.isEmpty)
  }

  @Test func `only a Live Activity's payload is broadcast`() async throws {
    let (answers, requests) = try await Self.send([#"{"aps":{"alert":"hi"},"channel":"\#(Self.channel)"}"#])
    #expect(
      answers == [.dropped(reason: "InvalidPushType: a broadcast updates Live Activities, but the push type is alert")])
    #expect(requests.isEmpty)
  }

  @Test(arguments: ["com.example/../app", "com.example.app?x", "com.example app"])
  func `a topic that would change the path is refused`(topic: String) async throws {
    let (answers, requests) = try await Self.send([Self.line(#","channel":"\#(Self.channel)""#)]) { $0.topic = topic }
    guard case .refused(let reason) = answers.first else { return #expect(Bool(false), "\(answers)") }
    #expect(reason.hasPrefix("--apns-topic: a broadcast needs the app's bundle identifier, and com.example"))
    #expect(requests.isEmpty)
  }

  @Test func `Apple's answers to broadcasts have their own words`() async throws {
    let unknown = Self.line(#","channel":"bm9uZQ==""#)
    let (answers, _) = try await Self.send([unknown])
    #expect(
      answers == [
        .dropped(reason: "400 ChannelNotRegistered: the channel does not exist, or exists in the other environment; see --apns-sandbox")
      ])
    let (others, _) = try await Self.send([unknown]) { $0.topic = "org.other" }
    guard case .refused(let reason) = others.first else { return #expect(Bool(false), "\(others)") }
    #expect(reason.hasPrefix("400 FeatureNotEnabled: the app may not broadcast; enable broadcasts"))
  }

  @Test func `a broadcast that is sent again has the same identifier`() async throws {
    let server = try await APNsServer.start(channels: [Self.channel]) { $0.attempt == 1 ? .refusedStream : .delivered }
    try await APNsTest.run(server) {
      $0.channelPath = JSONPointer("channel")
    } _: { test in
      #expect(await test.answers(to: [Self.line(#","channel":"\#(Self.channel)""#)]) == [.delivered(status: "200")])
    }
    #expect(server.attempts == [PushIdentifier(queue: "sqlite:/push.db", payload: 1).text: 2])
    #expect(server.delivered.values.map { $0 } == [1])
  }

  @Test(arguments: [
    (#"{"token":"00ff","channel":"Y2g=","aps":{}}"#, #"{"aps":{}}"#), (#"{"aps":{},"channel":"Y2g=","token":"00ff"}"#, #"{"aps":{}}"#),
    (#"{"token":"00ff","aps":{},"channel":"Y2g="}"#, #"{"aps":{}}"#), (#"{"channel":"Y2g=","aps":{},"token":"00ff"}"#, #"{"aps":{}}"#),
    (#"{"a":1,"channel":"Y2g=","token":"00ff","aps":{}}"#, #"{"a":1,"aps":{}}"#),
    (#"{"channel":"Y2g=","token":"00ff"}"#, "{}"),
  ])
  func `the token and the channel are taken from the payload in any order`(line: String, payload: String) throws {
    let reader = PushReader(tokenPath: JSONPointer("token"), channelPath: JSONPointer("channel"))
    for ending in ["", "\r\n"] {
      guard case .push(let push) = reader.read(Array((" " + line + ending).utf8)) else { return #expect(Bool(false)) }
      #expect(String(decoding: push.payload, as: UTF8.self) == payload)
      #expect(push.token?.string == "00ff")
      #expect(push.channel?.string == "Y2g=")
    }
  }
}
