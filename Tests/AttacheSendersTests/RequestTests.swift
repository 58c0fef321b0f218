import Attache
import AttacheQueue
import AttacheTesting
import Testing

@testable import AttacheSenders

/// The request to Apple for a line.
@Suite(.timeLimit(.minutes(1)))
struct RequestTests {
  private static let token = String(repeating: "0a", count: 32)

  private static func configuration(_ change: (inout APNsConfiguration) -> Void = { _ in }) throws -> APNsConfiguration {
    let key = try ProviderKey(SigningKey(pem: ProviderTokenCheck().privateKeyPEM), keyID: "KEY", teamID: "TEAM")
    var configuration = APNsConfiguration(credentials: .key(key))
    configuration.topic = "com.example.app"
    configuration.tokenPath = JSONPointer("token")
    configuration.queueName = "sqlite:/push.db"
    change(&configuration)
    return configuration
  }

  private static func request(_ line: String, _ change: (inout APNsConfiguration) -> Void = { _ in }) throws -> PushRequest {
    switch PushRequestMaker(try configuration(change)).make(APNsTest.delivery(7, line)) {
    case .request(let request): return request
    case .answer(let answer): throw NotSent(answer: answer)
    }
  }

  private struct NotSent: Error {
    let answer: DeliveryAnswer
  }

  private static func answer(_ line: String, _ change: (inout APNsConfiguration) -> Void = { _ in }) throws -> DeliveryAnswer? {
    do {
      _ = try request(line, change)
      return nil
    } catch let error as NotSent {
      return error.answer
    }
  }

  private static func headers(_ request: PushRequest) -> [String: String] {
    var headers: [String: String] = [:]
    for name in PushHeader.allCases.map(\.name.description) { headers[name] = request.value(of: name) }
    return headers
  }

  @Test func `an alert goes at once, without its device token`() throws {
    let request = try Self.request(#" {"aps":{"alert":"hi"}, "token" : "\#(Self.token)" ,"x":1}"# + "\r\n")
    #expect(String(decoding: request.body, as: UTF8.self) == #"{"aps":{"alert":"hi"} ,"x":1}"#)
    #expect(
      Self.headers(request) == [
        ":path": "/3/device/\(Self.token)", "apns-id": PushIdentifier(queue: "sqlite:/push.db", payload: 7).text, "apns-push-type": "alert",
        "apns-topic": "com.example.app", "apns-priority": "10",
      ])
  }

  @Test(arguments: [
    (#"{"alert":"hi"}"#, "alert", "10"), (#"{"alert":{"title":"hi"},"content-available":1}"#, "alert", "10"),
    (#"{"badge":1}"#, "alert", "10"),
    (#"{"sound":"default"}"#, "alert", "10"), (#"{"content-available":1}"#, "background", "5"), (#"{}"#, "alert", "10"),
  ])
  func `push type and priority follow from the kind of push`(aps: String, type: String, priority: String) throws {
    let request = try Self.request(#"{"aps":\#(aps),"token":"\#(Self.token)"}"#)
    #expect(request.value(of: "apns-push-type") == type)
    #expect(request.value(of: "apns-priority") == priority)
  }

  @Test(arguments: [
    (
      #"{"aps":{"timestamp":1,"event":"update","content-state":{"a":1},"alert":"hi"}}"#, "liveactivity",
      "com.example.app.push-type.liveactivity"
    ),
    (#"{"aps":{"timestamp":1,"event":"end"}}"#, "liveactivity", "com.example.app.push-type.liveactivity"),
    (#"{"aps":{"content-state":{}}}"#, "liveactivity", "com.example.app.push-type.liveactivity"),
    (#"{"mdm":"BD5A8C4E"}"#, "mdm", "com.example.app"), (#"{"mdm":"x","aps":{"alert":"hi"}}"#, "alert", "com.example.app"),
  ])
  func `a Live Activity's and a management server's payload have their type and topic`(line: String, type: String, topic: String) throws {
    let request = try Self.request(line) { $0.deviceToken = Self.token }
    #expect(request.value(of: "apns-push-type") == type && request.value(of: "apns-topic") == topic)
    #expect(request.body == Array(line.utf8))
  }

  @Test(arguments: [
    ("alert", ""), ("background", ""), ("location", ".location-query"), ("voip", ".voip"), ("complication", ".complication"),
    ("fileprovider", ".pushkit.fileprovider"), ("pushtotalk", ".voip-ptt"), ("widgets", ".push-type.widgets"),
    ("controls", ".push-type.controls"), ("later", ""),
  ])
  func `a topic gets the suffix of its push type, once`(type: String, suffix: String) throws {
    for given in Set(["com.example.app", "com.example.app" + suffix]) {
      let request = try Self.request(#"{"aps":{"content-available":1}}"#) {
        ($0.deviceToken, $0.pushType, $0.topic) = (Self.token, type, given)
      }
      #expect(request.value(of: "apns-topic") == "com.example.app" + suffix)
      #expect(request.value(of: "apns-push-type") == type)
    }
  }

  @Test(arguments: [
    (#"{"aps":{"event":"update","content-state":{}}}"#, "alert", "its push type is alert; give push type liveactivity"),
    (#"{"aps":{"alert":"hi"}}"#, "liveactivity", "needs aps.event and aps.content-state"),
    (#"{"aps":{"alert":"hi"}}"#, "mdm", "needs the member mdm"),
    (#"{"mdm":"x"}"#, "background", "give push type mdm"),
    (#"{"aps":{"alert":"hi","content-available":1}}"#, "background", "must show no alert"),
  ])
  func `a payload that a push type cannot have is refused before it is sent`(payload: String, type: String, why: String) throws {
    let line = #"{"message":{"token":"\#(Self.token)","apns":{"headers":{"apns-push-type":"\#(type)"},"payload":\#(payload)}}}"#
    guard case .dropped(let reason) = try Self.answer(line) else {
      Issue.record("it is not dropped")
      return
    }
    #expect(reason.hasPrefix("InvalidPushType: ") && reason.contains(why), "\(reason)")
  }

  @Test func `a push type or a topic of the user that does not fit drops nothing`() throws {
    for type in ["background", "liveactivity", "mdm"] {
      let answer = try Self.answer(#"{"aps":{"alert":"hi"}}"#) { ($0.deviceToken, $0.pushType) = (Self.token, type) }
      guard case .refused(let reason) = answer else {
        Issue.record("\(String(describing: answer))")
        return
      }
      #expect(reason.hasPrefix("--apns-push-type does not fit: "), "\(reason)")
    }
    let activity = #"{"aps":{"content-state":{}}}"#
    let topic = try Self.answer(activity) { ($0.deviceToken, $0.topic) = (Self.token, "com.example.app.push-type.widgets") }
    #expect(
      topic
        == .refused(
          reason:
            "--apns-topic: com.example.app.push-type.widgets is the topic of another push type than liveactivity; give the app's bundle identifier"
        ))
    // Such a payload has one type only, and a bundle identifier may end like a suffix.
    let request = try Self.request(activity) { ($0.deviceToken, $0.pushType, $0.topic) = (Self.token, "alert", "com.acme.voip") }
    #expect(request.value(of: "apns-push-type") == "liveactivity")
    #expect(request.value(of: "apns-topic") == "com.acme.voip.push-type.liveactivity")
    let own = try Self.request(#"{"aps":{"alert":"hi","event":"order-shipped"}}"#) { $0.deviceToken = Self.token }
    #expect(own.value(of: "apns-push-type") == "alert")
  }

  @Test func `what an FCM message says of the delivery goes before the flags`() throws {
    let line = """
      {"message":{"token":"\(Self.token)","apns":{"headers":{"apns-topic":"org.other.voip","apns-push-type":"voip","apns-priority":"5",\
      "apns-expiration":"1794000000","apns-collapse-id":"game 7"},"payload":{"aps":{"alert":"hi"},"a":"\\u00e9"}}}}
      """
    let request = try Self.request(line)
    #expect(String(decoding: request.body, as: UTF8.self) == #"{"aps":{"alert":"hi"},"a":"\u00e9"}"#)
    #expect(
      Self.headers(request) == [
        ":path": "/3/device/\(Self.token)", "apns-id": PushIdentifier(queue: "sqlite:/push.db", payload: 7).text, "apns-push-type": "voip",
        "apns-topic": "org.other.voip", "apns-priority": "5", "apns-expiration": "1794000000", "apns-collapse-id": "game 7",
      ])
    #expect(request.hasOwnTopic)
  }

  @Test func `a notification of gorush goes as gorush would send it`() throws {
    let line = """
      {"notifications":[{"tokens":["\(Self.token)"],"platform":1,"message":"hi","topic":"org.other","priority":"normal","collapse_id":"c",\
      "data":{"attache":{"attachments":[{"url":"https://cdn.example/a.png"}]},"k":1}}]}
      """
    let request = try Self.request(line)
    #expect(
      String(decoding: request.body, as: UTF8.self)
        == #"{"aps":{"alert":"hi"},"attache":{"attachments":[{"url":"https://cdn.example/a.png"}]},"k":1}"#)
    #expect(request.value(of: "apns-topic") == "org.other")
    #expect(request.value(of: "apns-priority") == "5")
    #expect(request.value(of: "apns-collapse-id") == "c")
    #expect(request.deviceToken == Self.token)
  }

  @Test func `the payload's expiration in the queue goes along, rounded down`() throws {
    let maker = PushRequestMaker(try Self.configuration())
    var delivery = APNsTest.delivery(1, APNsTest.line())
    delivery.expiresAt = .milliseconds(1_794_000_000_900)
    guard case .request(let request) = maker.make(delivery) else { return #expect(Bool(false)) }
    #expect(request.value(of: "apns-expiration") == "1794000000")
  }

  private static let alert = #""aps":{"alert":"hi"}"#

  /// Lines and their requests to Apple.
  private static let media: [(line: String, body: String)] = [
    ("{\(alert)}", "{\(alert)}"),
    ("{\(alert) , \"k\": 1 ,\(member("file:///s/a.png")) }", "{\(alert) , \"k\": 1  }"),
    (
      "{\(alert) , \"k\": 1 ,\(member("https://cdn.example/file:/a.png"))}",
      "{\(alert) , \"k\": 1 ,\(member("https://cdn.example/file:/a.png"))}"
    ),
    ("{\(member("file:///s/a.png")), \(alert)}", "{ \(alert)}"),
    ("{\(alert),\(member("https://cdn.example/b.png", "FILE:///s/a.png")),\"k\":\"\\u0041\"}", "{\(alert),\"k\":\"\\u0041\"}"),
    ("{\(alert),\"attache\":\"file:///\"}", "{\(alert),\"attache\":\"file:///\"}"),
    ("{\(alert),\"x\":{\(member("file:///a"))}}", "{\(alert),\"x\":{\(member("file:///a"))}}"),
    ("{\(alert),\(member("file:///a")),\(member("file:///b"))}", "{\(alert)}"),
    ("{\(member("file:///a")),\(member("file:///b")),\(alert)}", "{\(alert)}"),
  ]

  private static func member(_ urls: String...) -> String {
    #""attache":{"attachments":["# + urls.map { #"{"identifier":"1","url":"\#($0)"}"# }.joined(separator: ",") + "]}"
  }

  @Test(arguments: media.indices)
  func `a member whose attachments have file URLs leaves, and no other byte changes`(index: Int) throws {
    let request = try Self.request(Self.media[index].line) { $0.deviceToken = Self.token }
    #expect(String(decoding: request.body, as: UTF8.self) == Self.media[index].body)
  }

  @Test func `the member leaves an envelope's payload too, and the user hears of it once`() async throws {
    let member = #""attache":{"attachments":[{"url":"file:///s/a.png"}]}"#
    let server = try await PushServer.startAPNs()
    try await APNsTest.run(server) { test in
      let answers = await test.answers(to: [
        #"{"notifications":[{"tokens":["\#(Self.token)"],"platform":1,"message":"hi","data":{"k":1,\#(member)}}]}"#,
        #"{"aps":{"alert":"hi"},"token":"\#(Self.token)",\#(member)}"#,
      ])
      #expect(answers == [.delivered(status: "200"), .delivered(status: "200")])
      #expect(
        server.requests.map { String(decoding: $0.body, as: UTF8.self) } == [#"{"aps":{"alert":"hi"},"k":1}"#, #"{"aps":{"alert":"hi"}}"#])
      #expect(test.recorder.notices.count == 1)
      #expect(test.recorder.notices.first?.contains("--base-url") == true)
    }
  }

  @Test(arguments: [
    ("", "the line is blank"), ("[]", "the line is not a JSON object"), ("{", "the line is not a JSON object"),
    (#"{"aps":{"alert":"hi"}}"#, "no device token"), (#"{"aps":{"alert":"hi"},"token":""}"#, "no device token"),
    (#"{"aps":{"alert":"hi"},"token":7}"#, "no device token"), (#"{"aps":{"alert":"hi"},"token":"xyz"}"#, "BadDeviceToken"),
    (#"{"aps":{"alert":"hi"},"token":"abc"}"#, "BadDeviceToken"), (#"{"aps":{"alert":"hi"},"token":"../../x"}"#, "BadDeviceToken"),
    (#"{"aps":{"alert":"hi"},"token":"ab\r\nx: y"}"#, "BadDeviceToken"),
    (
      #"{"notifications":[{"token":"ab","platform":1,"message":"a"},{"token":"ab","platform":1,"message":"b"}]}"#,
      "the line contains 2 notifications"
    ),
    (#"{"message":{"token":"abcd","apns":{"headers":{"apns-push-type":"a\r\nb"},"payload":{"aps":{"alert":"hi"}}}}}"#, "InvalidPushType"),
    (#"{"message":{"token":"abcd","apns":{"headers":{"apns-topic":"é"},"payload":{"aps":{"alert":"hi"}}}}}"#, "BadTopic"),
    (#"{"message":{"token":"abcd","apns":{"headers":{"apns-collapse-id":" a"},"payload":{"aps":{"alert":"hi"}}}}}"#, "BadCollapseId"),
  ])
  func `what cannot be sent is dropped without asking Apple`(line: String, reason: String) throws {
    guard case .dropped(let said) = try Self.answer(line) else { return #expect(Bool(false)) }
    #expect(said.hasPrefix(reason))
    #expect(said.unicodeScalars.allSatisfy { $0.value >= 0x20 })
  }

  @Test(arguments: [("alert", 4_096, true), ("alert", 4_097, false), ("voip", 5_120, true), ("voip", 5_121, false)])
  func `a payload that is too large is dropped`(type: String, count: Int, isSent: Bool) throws {
    let start = #"{"aps":{"alert":""#
    let line = start + String(repeating: "x", count: count - start.utf8.count - 3) + #""}}"#
    let answer = try Self.answer(line) { configuration in
      configuration.deviceToken = Self.token
      configuration.pushType = type
    }
    #expect((answer == nil) == isSent)
    guard let answer else { return }
    guard case .dropped(let reason) = answer else { return #expect(Bool(false)) }
    #expect(reason.hasPrefix("PayloadTooLarge: the payload has \(count) bytes"))
  }

  @Test func `a payload without a topic is the user's to mend`() throws {
    let answer = try Self.answer(APNsTest.line()) { $0.topic = nil }
    #expect(answer == .refused(reason: "the payload has no topic; give the app's bundle identifier with --apns-topic"))
  }

  @Test func `an apns-id is a UUID of version 8, the same for each try, and another for each payload and queue`() {
    let identifier = PushIdentifier(queue: "sqlite:/a.db", payload: 1).text
    #expect(identifier == PushIdentifier(queue: "sqlite:/a.db", payload: 1).text)
    #expect(identifier != PushIdentifier(queue: "sqlite:/a.db", payload: 2).text)
    #expect(identifier != PushIdentifier(queue: "sqlite:/b.db", payload: 1).text)
    let parts = identifier.split(separator: "-").map(Array.init)
    #expect(parts.map(\.count) == [8, 4, 4, 4, 12])
    #expect(parts[2].first == "8")
    #expect("89ab".contains(parts[3].first ?? "?"))
  }

  @Test func `a request that was sent waits anew for a connection`() throws {
    var line = RequestLine()
    line.append(try Self.request(#"{"aps":{},"token":"\#(Self.token)"}"#))
    let start = MonotonicInstant(nanoseconds: 1)
    var given = 0
    line.giveUp(at: start, after: .seconds(30)) { _ in given += 1 }
    let sent = line.popFirst()
    sent?.noteSubmission()
    line.prepend(try #require(sent))
    line.giveUp(at: start.advanced(by: .seconds(31)), after: .seconds(30)) { _ in given += 1 }
    #expect(given == 0)
    line.giveUp(at: start.advanced(by: .seconds(61)), after: .seconds(30)) { _ in given += 1 }
    #expect(given == 1)
  }
}
