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
  ) async throws -> (answers: [DeliveryAnswer], requests: [PushServerRequest]) {
    let server = try await PushServer.startAPNs(channels: [channel])
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
      answers == [
        .dropped(
          reason: "InvalidPushType: a broadcast updates a Live Activity, and the payload is for none (aps.event, aps.content-state)")
      ])
    #expect(requests.isEmpty)
  }

  @Test(arguments: ["com.example/../app", "com.example.app?x", "com.example app", "com.example."])
  func `a topic that would change the path is refused`(topic: String) async throws {
    let (answers, requests) = try await Self.send([Self.line(#","channel":"\#(Self.channel)""#)]) { $0.topic = topic }
    guard case .refused(let reason) = answers.first else { return #expect(Bool(false), "\(answers)") }
    #expect(reason.hasPrefix("--apns-topic: a broadcast needs the app's bundle identifier, and com.example"))
    #expect(requests.isEmpty)
  }

  @Test(arguments: ["..", ".", "a..b", "a/b", "", "exämple"])
  func `a topic of the envelope's own that is no bundle identifier drops its line alone`(topic: String) async throws {
    let line =
      #"{"message":{"token":"00ff","data":{"channel":"\#(Self.channel)"},"apns":{"headers":{"apns-topic":"\#(topic)"},"payload":{\#(Self.aps)}}}}"#
    let (answers, requests) = try await Self.send([line]) { $0.channelPath = JSONPointer("message", "data", "channel") }
    switch answers.first {
    case .dropped(let reason): #expect(!topic.isEmpty && reason.hasPrefix("BadTopic: "), "\(reason)")
    // An empty topic is none.
    case .delivered: #expect(topic.isEmpty && requests.first?.app == "com.example.app")
    default: Issue.record("\(answers)")
    }
    #expect(requests.isEmpty == !topic.isEmpty)
  }

  @Test(arguments: [nil, "", "exämple"])
  func `a topic of the user's that is none pauses`(topic: String?) async throws {
    let server = try await PushServer.startAPNs(tls: .clientCertificate, channels: [Self.channel])
    let file = try server.makeClientCertificateFile()
    try await APNsTest.run(server) { configuration in
      (configuration.channelPath, configuration.topic) = (JSONPointer("channel"), topic)
      configuration.credentials = .certificate(file)
    } _: { test in
      let answer = await test.answers(to: [Self.line(#","channel":"\#(Self.channel)""#)]).first
      guard case .refused(let reason) = answer else { return #expect(Bool(false), "\(String(describing: answer))") }
      #expect(reason.contains("--apns-topic"))
    }
    #expect(server.requestCount == 0)
  }

  @Test func `the expiration is the envelope's; the time in the queue does not count`() throws {
    let key = try ProviderKey(SigningKey(pem: ProviderTokenCheck().privateKeyPEM), keyID: "KEY", teamID: "TEAM")
    var configuration = APNsConfiguration(credentials: .key(key))
    (configuration.topic, configuration.channelPath) = ("com.example.app", JSONPointer("channel"))
    let maker = PushRequestMaker(configuration)
    let own =
      #"{"message":{"apns":{"headers":{"apns-expiration":"1794000000","apns-priority":"5"},"payload":{\#(Self.aps)}}},"channel":"Y2g="}"#
    for (line, expiration, priority) in [(Self.line(#","channel":"Y2g=""#), "0", "10"), (own, "1794000000", "5")] {
      var delivery = APNsTest.delivery(1, line)
      delivery.expiresAt = .seconds(1_795_000_000)
      guard case .request(let request) = maker.make(delivery) else { return #expect(Bool(false), "\(line)") }
      #expect(request.value(of: "apns-expiration") == expiration)
      #expect(request.value(of: "apns-priority") == priority)
    }
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
    let server = try await PushServer.startAPNs(channels: [Self.channel]) { $0.attempt == 1 ? .refusedStream : .delivered }
    try await APNsTest.run(server) {
      $0.channelPath = JSONPointer("channel")
    } _: { test in
      #expect(await test.answers(to: [Self.line(#","channel":"\#(Self.channel)""#)]) == [.delivered(status: "200")])
    }
    #expect(server.attempts == [PushIdentifier(queue: "sqlite:/push.db", payload: 1).text: 2])
    #expect(server.delivered.values.map { $0 } == [1])
  }

  private static func read(_ line: String, _ channel: JSONPointer, at payloadPath: JSONPointer? = nil) -> PushReading {
    PushReader(payloadPath: payloadPath, tokenPath: JSONPointer("token"), channelPath: channel).read(Array(line.utf8))
  }

  /// Expects that a line is sent without its addresses.
  private func expect(
    _ line: String, sends payload: String, channel: JSONPointer = JSONPointer("channel"), payloadPath: JSONPointer? = nil,
    location: SourceLocation = #_sourceLocation
  ) {
    guard case .push(let push) = Self.read(line, channel, at: payloadPath) else {
      Issue.record("\(line)", sourceLocation: location)
      return
    }
    #expect(String(decoding: push.payload, as: UTF8.self) == payload, sourceLocation: location)
    #expect(push.channel?.string == "Y2g=", sourceLocation: location)
  }

  @Test(arguments: [
    (#"{"token":"00ff","channel":"Y2g=","aps":{}}"#, #"{"aps":{}}"#), (#"{"aps":{},"channel":"Y2g=","token":"00ff"}"#, #"{"aps":{}}"#),
    (#"{"token":"00ff","aps":{},"channel":"Y2g="}"#, #"{"aps":{}}"#), (#"{"channel":"Y2g=","aps":{},"token":"00ff"}"#, #"{"aps":{}}"#),
    (#"{"a":1,"channel":"Y2g=","token":"00ff","aps":{}}"#, #"{"a":1,"aps":{}}"#), (#"{"channel":"Y2g=","token":"00ff"}"#, "{}"),
    (#"{"channel":"QQ==","aps":{},"token":"aa","ch\u0061nnel":"Y2g=","token":"bb"}"#, #"{"aps":{}}"#),
    (#"{"channel":7,"aps":{},"channel":"Y2g=","token":null}"#, #"{"aps":{}}"#),
  ])
  func `no address is in the payload that is sent, in any order and however often it is named`(line: String, payload: String) {
    for ending in ["", " ", "\r\n"] { expect(" " + line + ending, sends: payload) }
  }

  @Test func `an address in a payload that has its own path is not sent, also in a string`() {
    let at = JSONPointer("m")
    expect(#"{"m":{"aps":{},"channel":"Y2g="},"x":1}"#, sends: #"{"aps":{}}"#, channel: JSONPointer("m", "channel"), payloadPath: at)
    expect(
      #"{"m":"{\"aps\":{},\"channel\":\"Y2g=\"}","x":1}"#, sends: #"{"aps":{}}"#, channel: JSONPointer("m", "channel"), payloadPath: at)
    // What is beside the payload leaves a member of the same name in it.
    expect(#"{"m":{"aps":{},"channel":"own"},"channel":"Y2g="}"#, sends: #"{"aps":{},"channel":"own"}"#, payloadPath: at)
  }

  @Test(arguments: [
    (#"{"message":{"apns":{"payload":{"aps":{"event":"update"},"a":1,"channel":"Y2g="}}}}"#, ["message", "apns", "payload", "channel"]),
    (#"{"message":{"data":{"channel":"Y2g="},"apns":{"payload":{"aps":{"event":"update"},"a":1}}}}"#, ["message", "data", "channel"]),
    (#"{"message":{"apns":{"payload":{"aps":{"event":"update"},"a":1}}},"channel":"Y2g="}"#, ["channel"]),
  ])
  func `an address that a service copies into the payload is not sent`(line: String, path: [String]) throws {
    let pointer = try JSONPointer(pointer: path.map { "/\($0)" }.joined())
    expect(line, sends: #"{"aps":{"event":"update"},"a":1}"#, channel: pointer)
  }

  @Test(arguments: ["7", "true", "{}", #"["Y2g="]"#])
  func `a channel that is no string is not sent to a device`(value: String) {
    let reading = Self.read(#"{"aps":{},"channel":\#(value),"token":"00ff"}"#, JSONPointer("channel"))
    #expect(reading == .nothing("BadChannelId: the channel at /channel is not a string"))
  }

  @Test(arguments: ["null", "\"\""])
  func `an empty channel is none, and is not sent`(value: String) {
    guard case .push(let push) = Self.read(#"{"aps":{},"channel":\#(value),"token":"00ff"}"#, JSONPointer("channel")) else {
      return #expect(Bool(false))
    }
    #expect(push.channel == nil && push.token?.string == "00ff")
    #expect(String(decoding: push.payload, as: UTF8.self) == #"{"aps":{}}"#)
  }
}
