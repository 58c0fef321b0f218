import Testing

@testable import Attache

/// FCM's message is proto3 JSON, and names pictures for several kinds of devices.
struct FCMMessageTests {
  private static let aps = #""aps":{"alert":"Hi","mutable-content":1}"#

  // MARK: Two names for a member

  @Test(arguments: ["fcm_options", "fcmOptions"])
  func `the options have two names`(name: String) throws {
    let line =
      #"{"message":{"token":"t","apns":{"payload":{\#(Self.aps)},"\#(name)":{"image":"https://a.example/1","analyticsLabel":"x"}}}}"#
    let payload = try #require(PayloadReader().read(line).candidate)
    #expect(payload.urls == ["https://a.example/1"] && payload.dialect == "firebase")
    let stage = try RewriteStage()
    #expect(try stage.rewrite(line) == line.replacing("https://a.example/1", with: try stage.address("https://a.example/1")))
  }

  @Test func `if both names are written, the last counts, and both get the public address`() throws {
    let line = #"{"message":{"apns":{"fcmOptions":{"image":"<1>"},"payload":{\#(Self.aps)},"fcm_options":{"image":"<2>"}}}}"#
    let (marked, twin) = try RewriteStage().twins(line)
    #expect(PayloadReader().read(marked).candidate?.urls == ["https://a.example/2"])
    #expect(try RewriteStage().rewrite(marked) == twin)
  }

  @Test(arguments: [
    #"{"message":{"token":"t","apns":{"payload":{\#(aps),"fcmOptions":{"image":"https://a.example/1"}}}}}"#,
    #"{"message":{"token":"t","data":{"fcmOptions":"https://a.example/1"},"apns":{"payload":{\#(aps)}}}}"#,
    #"{\#(aps),"fcmOptions":{"image":"https://a.example/1"}}"#,
  ])
  func `a phone reads only the name that stands in its payload`(line: String) throws {
    #expect(try #require(PayloadReader().read(line).candidate).references.isEmpty)
  }

  @Test func `what goes to APNs has the options under the name that the phone reads`() {
    let line = #"{"message":{"token":"t","apns":{"fcmOptions":{"image":"https://a.example/1"},"payload":{\#(Self.aps)}}}}"#
    guard case .push(let push) = PushReader().read(Array(line.utf8)) else {
      Issue.record("it is no push")
      return
    }
    #expect(String(decoding: push.payload, as: UTF8.self) == #"{\#(Self.aps),"fcm_options":{"image":"https://a.example/1"}}"#)
  }

  // MARK: Pictures for all devices

  private static let everywhere =
    #""notification":{"title":"T","image":"<1>"},"android":{"notification":{"image":"<1>"}},"webpush":{"notification":{"image":"<1>"}}"#

  @Test(arguments: [
    #"{"message":{"token":"t",\#(everywhere)}}"#, #"{"token":"t",\#(everywhere)}"#,
    #"{"message":{"token":"t",\#(everywhere),"apns":{"payload":{"aps":{"mutable-content":1}},"fcmOptions":{"image":"<1>"}}}}"#,
    #"{"message":{\#(everywhere),"apns":{"payload":{"aps":{"sound":"default"}},"fcm_options":{"image":"<2>"}}}}"#,
    #"{"message":{"topic":"n","android":{"notification":{"image":"\n<1> "}}}}"#,
    #"{"message":{"topic":"n","webpush":{"notification":{"image":"<1>"}},"data":{"image":"https://a.example/x"}}}"#,
    #"{"message":{"topic":"n","android":{"notification":{"image":"<2>"}},"apns":{"payload":{\#(aps)},"fcm_options":{"image":"<1>"}}}}"#,
    #"{"message":{"topic":"n","android":{"notification":{"image":"<2>"}},"apns":{"payload":{\#(aps),"image":"<1>"}}}}"#,
    #" {"android":{"notification":{"image":"<1>"}}, "topic":"n"} "#,
  ])
  func `each place of a picture gets its public address, whatever aps says`(marked: String) throws {
    let stage = try RewriteStage()
    let (line, twin) = try stage.twins(marked.replacing("\n", with: "\\n"))
    let decision = try stage.decide(line)
    #expect(decision.outcome == .attached && decision.dialect != nil)
    #expect(decision.text(of: line) == twin.replacing(#""\n"#, with: #"""#).replacing(#" "}}}}"#, with: #""}}}}"#))
    #expect(stage.read(decision.text(of: line)).reason == .payloadEnriched)
  }

  @Test func `the member has what a phone of Apple's shows`() throws {
    var stage = try RewriteStage()
    stage.form = .both
    let marked =
      #"{"message":{"android":{"notification":{"image":"<2>"}},"apns":{"payload":{\#(Self.aps)},"fcm_options":{"image":"<1>"}}}}"#
    let (line, twin) = try stage.twins(marked)
    let written = try stage.rewrite(line)
    let parts = twin.split(separator: #""mutable-content":1}"#, maxSplits: 1)
    #expect(written.hasPrefix(parts[0]) && written.hasSuffix(parts[1]))
    #expect(written.contains(#""source":"https://a.example/1""#) && !written.contains(#""source":"https://a.example/2""#), "\(written)")
  }

  @Test(arguments: [
    #"{"message":{"token":"t","notification":{"title":"T","image":"<1>"}}}"#,
    #"{"message":{"token":"t","notification":{"image":"<1>"},"apns":{"payload":{"aps":{"alert":"Hi"}}}}}"#,
    #"{"message":{"token":"t","android":{"notification":{"image":"<1>"}},"apns":{"payload":{\#(aps)}}}}"#,
  ])
  func `without a picture for the phone, both only replaces the URLs, and member does nothing`(marked: String) throws {
    var stage = try RewriteStage()
    stage.form = .both
    let (line, twin) = try stage.twins(marked)
    #expect(try stage.rewrite(line) == twin)
    #expect(PayloadReader().read(line).candidates.allSatisfy { $0.references.isEmpty })
  }

  @Test func `one picture that fails stays, and the other is replaced`() throws {
    var stage = try RewriteStage()
    stage.isAttached = { $0.hasSuffix("2") }
    let marked = #"{"message":{"token":"t","notification":{"image":"https://a.example/1"},"android":{"notification":{"image":"<2>"}}}}"#
    let (line, twin) = try stage.twins(marked)
    #expect(try stage.rewrite(line) == twin)
  }

  @Test func `the limit counts what APNs receives`() throws {
    var stage = try RewriteStage()
    let marked =
      #"{"message":{"android":{"notification":{"image":"<2>"}},"apns":{"payload":{\#(Self.aps)},"fcm_options":{"image":"<1>"}}}}"#
    let (line, twin) = try stage.twins(marked)
    let payload = #"{\#(Self.aps),"fcm_options":{"image":"\#(try stage.address("https://a.example/1"))"}}"#
    stage.maximum = .bytes(payload.utf8.count)
    #expect(try stage.rewrite(line) == twin)
    stage.maximum = .bytes(payload.utf8.count - 1)
    #expect(try stage.decide(line).reason == .payloadMaximum)
  }

  @Test func `a picture for other devices is attached beside a payload that was too large before`() throws {
    let stage = try RewriteStage()
    let (line, twin) = try stage.twins(
      #"{"message":{"android":{"notification":{"image":"<1>"}},"apns":{"payload":{\#(Self.aps),"x":"\#(String(repeating: "x", count: 5_000))"}}}}"#
    )
    #expect(try stage.rewrite(line) == twin)
  }

  @Test func `pictures are read only with the dialect of Firebase`() throws {
    var stage = try RewriteStage()
    stage.dialects = try DialectTable(names: ["generic"])
    #expect(stage.read(#"{"message":{"token":"t","notification":{"title":"T","image":"https://a.example/1"}}}"#).candidates.isEmpty)
  }
}
