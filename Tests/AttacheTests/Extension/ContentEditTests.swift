import Testing

@testable import Attache

/// The lines that a service extension's changes of content make.
struct ContentEditTests {
  typealias Change = @Sendable (inout NotificationContent) -> Void

  /// A part of a line, what it becomes, and by which change.
  struct Row: Sendable {
    var before, after: String
    var change: Change

    init(_ before: String, _ after: String, _ change: @escaping Change) {
      (self.before, self.after, self.change) = (before, after, change)
    }
  }

  let stage: ContentStage

  init() throws {
    stage = try ContentStage()
  }

  private func expect(_ line: String, becomes after: String?, path: JSONPointer? = nil, _ change: (inout NotificationContent) -> Void) {
    let changed = stage.change(line, path: path, change)
    #expect(changed == after)
  }

  private func expectRefusal(of change: (inout NotificationContent) -> Void, in line: String) {
    let decision = stage.decide(line, change: change)
    #expect(decision.outcome == .fallback && decision.reason == .extensionContent && decision.text(of: line) == line)
  }

  private static func line(_ aps: String, _ members: String = "") -> String {
    #"{ "aps" : {"mutable-content":1, \#(aps)}\#(members)}"#
  }

  @Test(arguments: [
    Row(#""alert":{"title":"T" , "body":"B"}"#, #""alert":{"title":"X" , "body":"B"}"#, { $0.title = "X" }),
    Row(#""alert":{"body":"B"}"#, #""alert":{"body":"B","title":"X","subtitle":"Y"}"#, { ($0.subtitle, $0.title) = ("Y", "X") }),
    Row(#""alert":{"body":"B","n":[1]}"#, #""alert":{"body":"\"\\\n\u0000😀","n":[1]}"#, { $0.body = "\"\\\n\u{0}😀" }),
    Row(#""alert":"B""#, #""alert":{"title":"X","body":"B"}"#, { $0.title = "X" }),
    Row(#""alert":"B\u0042""#, #""alert":{"title":"X","body":"B\u0042"}"#, { $0.title = "X" }),
    Row(#""alert":"B""#, #""alert":{"body":"X"}"#, { $0.body = "X" }),
    Row(#""alert":"B""#, #""alert":{"title":"X"}"#, { ($0.title, $0.body) = ("X", "") }),
    Row(#""alert":"e\u0301""#, #""alert":{"body":"é"}"#, { $0.body = "\u{e9}" }),
  ])
  func `a changed text replaces its member, or is added behind the others`(row: Row) {
    expect(Self.line(row.before), becomes: Self.line(row.after), row.change)
  }

  @Test(arguments: [
    Row(#""alert":{"loc-key":"L","loc-args":["a"]}"#, #""alert":{"loc-args":["a"],"body":"X"}"#, { $0.body = "X" }),
    Row(#""alert":{"body":"B","title-loc-key":"L","title":"T"}"#, #""alert":{"body":"B"}"#, { $0.title = "" }),
    Row(#""alert":{"body":"B", "title-loc-key":"L"}"#, #""alert":{"body":"B","title":"X"}"#, { $0.title = "X" }),
    Row(#""alert":{"body":"B", "title-loc-key":"L"}"#, #""alert":{"body":"X", "title-loc-key":"L"}"#, { $0.body = "X" }),
  ])
  func `a changed text replaces its loc-key too`(row: Row) {
    expect(Self.line(row.before), becomes: Self.line(row.after), row.change)
  }

  @Test(arguments: [
    Row(#""badge":1,"alert":"B""#, #""badge":12,"alert":"B""#, { $0.badge = 12 }),
    Row(#""badge":"7" ,"alert":"B""#, #""badge":0 ,"alert":"B""#, { $0.badge = 0 }),
    Row(#""x":0,"badge":1 , "alert":"B""#, #""x":0 , "alert":"B""#, { $0.badge = nil }),
    Row(#""alert":"B" , "badge":1"#, #""alert":"B" "#, { $0.badge = nil }),
    Row(
      #""alert":"B","sound":"s","category":"c","thread-id":"t""#, #""alert":"B","sound":"x","category":"y","thread-id":"z""#,
      {
        ($0.sound, $0.categoryIdentifier, $0.threadIdentifier) = ("x", "y", "z")
      }),
    Row(
      #""x":0,"sound":"s","category":"c","alert":"B","thread-id":"t""#, #""x":0,"alert":"B""#,
      {
        ($0.sound, $0.categoryIdentifier, $0.threadIdentifier) = (nil, "", "")
      }),
    Row(
      #""alert":"B""#, #""alert":"B","badge":3,"sound":"x","category":"y","thread-id":"z""#,
      {
        ($0.badge, $0.sound, $0.categoryIdentifier, $0.threadIdentifier) = (3, "x", "y", "z")
      }),
    Row(
      #""sound":{"critical":1,"name":"s","volume":0.5},"alert":"B""#, #""sound":{"critical":1,"name":"x","volume":0.5},"alert":"B""#,
      {
        $0.sound = "x"
      }),
  ])
  func `badge, sound, category and thread are members of aps`(row: Row) {
    expect(Self.line(row.before), becomes: Self.line(row.after), row.change)
  }

  @Test(arguments: [
    Row(#","a":1,"b":[ 2 ]"#, #","a":{"x":[1]},"b":[ 2 ]"#, { $0.userInfo["a"] = Array(#" {"x": [ 1 ]}\#n"#.utf8) }),
    Row(
      #","a":1"#, #","a":1,"n\"":null,"z":"é""#,
      {
        ($0.userInfo["z"], $0.userInfo["n\""]) = (Array(#""é""#.utf8), Array("null".utf8))
      }),
    Row(#","a":1 , "b":2,"c":3"#, #","c":3"#, { ($0.userInfo["a"], $0.userInfo["b"]) = (nil, nil) }),
    Row(#","\u0061":1,"a":2"#, #","\u0061":1,"a":3"#, { $0.userInfo["a"] = Array("3".utf8) }),
    Row(#","a":1,"x":0,"\u0061":2"#, #","x":0"#, { $0.userInfo["a"] = nil }),
  ])
  func `user info is members beside aps, added in the order of their names`(row: Row) {
    expect(Self.line(#""alert":"B""#, row.before), becomes: Self.line(#""alert":"B""#, row.after), row.change)
  }

  @Test func `of members with one name the last is edited, and all are removed`() {
    let line = #"{"aps":1,"aps":{"alert":"A","alert":{"body":1,"b\u006fdy":"B"},"badge":1,"mutable-content":1,"badge":2}}"#
    expect(line, becomes: line.replacing(#""b\u006fdy":"B""#, with: #""b\u006fdy":"X""#)) { $0.body = "X" }
    expect(line, becomes: line.replacing(#""badge":2"#, with: #""badge":3"#)) { $0.badge = 3 }
    expect(line, becomes: #"{"aps":1,"aps":{"alert":"A","alert":{"body":1,"b\u006fdy":"B"},"mutable-content":1}}"#) { $0.badge = nil }
  }

  @Test(arguments: ["\u{FEFF}", " ", "\u{FEFF} "]) func `what is around the payload stays`(before: String) {
    let (line, end) = (Self.line(#""alert":"B""#), " \r\n")
    expect(before + line + end, becomes: before + Self.line(#""alert":"B","badge":1"#) + end) { $0.badge = 1 }
  }

  // MARK: Envelopes

  private static let before = #"{"aps":{"alert":"B","badge":1,"mutable-content":1},"a":1}"#
  private static let after = #"{"aps":{"alert":{"title":"\"X\"","body":"B"},"mutable-content":1},"a":1,"b":["\\"]}"#
  private static let change: Change = { ($0.title, $0.badge, $0.userInfo["b"]) = ("\"X\"", nil, Array(#"["\\"]"#.utf8)) }

  /// The forms of a line around a payload with an `aps`.
  enum Envelope: CaseIterable {
    case fcm, sns, message, path, pathInString

    var path: JSONPointer? { self == .path || self == .pathInString ? JSONPointer("p", "q") : nil }

    func line(_ payload: String) -> String {
      let string = JSONString.text(payload[...])
      return switch self {
      case .fcm: #"{"message":{"token":"t","apns":{"payload":\#(payload)}}}"#
      case .sns: #"{"APNS_SANDBOX":"\#(string)","default":"d","APNS":"\#(string)"}"#
      case .message: #"{"MessageStructure":"json","Message":"\#(JSONString.text(#"{"APNS":"\#(string)"}"#[...]))"}"#
      case .path: #"{"p":{"r":0,"q":\#(payload)}}"#
      case .pathInString: #"{"p":"\#(JSONString.text(#"{"q":\#(payload)}"#[...]))"}"#
      }
    }
  }

  @Test(arguments: Envelope.allCases) func `in an envelope the payload changes, in each string that has it`(envelope: Envelope) {
    expect(envelope.line(Self.before), becomes: envelope.line(Self.after), path: envelope.path, Self.change)
    expect(envelope.line(Self.before), becomes: nil, path: envelope.path) { $0.body = "B" }
  }

  @Test func `texts that FCM adds are kept beside a changed one`() {
    func line(_ aps: String, _ end: String = "") -> String {
      #"{"message":{"notification":{"title":"T","body":"B"},"data":{"k":"v"},"apns":{"payload":{"aps":{\#(aps)}\#(end)}}}}"#
    }
    let flag = #""mutable-content":1"#
    expect(line(flag), becomes: line(flag + #","alert":{"title":"T","body":"X"}"#)) { $0.body = "X" }
    expect(line(flag), becomes: line(flag + #","alert":{"body":"B"}"#)) { $0.title = "" }
    expect(line(flag), becomes: line(flag, #","n":1"#)) { $0.userInfo["n"] = Array("1".utf8) }
    // FCM takes it from data.
    for value in [nil, Array("1".utf8)] { expectRefusal(of: { $0.userInfo["k"] = value }, in: line(flag)) }
  }

  @Test func `a service that builds the payload takes new texts and nothing else`() {
    func line(_ texts: String, _ end: String = "") -> String {
      #"{"platform":1,"tokens":["t"],"mutable_content":true,\#(texts),"data":{}\#(end)}"#
    }
    expect(line(#""message":"M""#), becomes: line(#""message":"M""#, #","alert":{"title":"X","body":"M"}"#)) { $0.title = "X" }
    // The service replaces an empty text by its own, which an added text must not hide.
    expect(line(#""message":"M","alert":{"body":""}"#), becomes: line(#""message":"M","alert":{"body":"M","title":"X"}"#)) {
      $0.title = "X"
    }
    expect(
      line(#""message":"M","alert":{"body":"M","title-loc-key":"K"}"#), becomes: line(#""message":"M","alert":{"body":"M","title":"X"}"#)
    ) { $0.title = "X" }
    let changes: [Change] = [{ $0.badge = 1 }, { $0.userInfo["a"] = [0x31] }, { ($0.title, $0.body) = ("X", "") }]
    for change in changes { expectRefusal(of: change, in: line(#""message":"M""#)) }
  }

  @Test func `each notification of a request has its own content`() {
    func line(_ first: String, _ second: String) -> String {
      let members = #""platform":1,"tokens":["t"],"mutable_content":true,"message""#
      return #"{"notifications":[{\#(members):"1"\#(first)},{\#(members):"2"\#(second)}]}"#
    }
    func alert(_ number: Int) -> String { #","alert":{"title":"X\#(number)","body":"\#(number)"}"# }
    expect(line("", ""), becomes: line(alert(1), alert(2))) { $0.title = "X" + $0.body }
  }

  // MARK: With attachments, and without changes

  private static let attachment = Attachment(
    identifier: "i", file: StoredFile(StoreName(digest: SHA256.hash([1]), type: .png), size: 1), source: "s", options: AttachmentOptions())

  @Test func `unchanged content leaves the line, and gives a line with media the same bytes`() {
    let line = Self.line(#""alert":{"title-loc-key":"L","body":"B"},"sound":{"critical":1},"badge":1.0"#, #","a": [ 1 ]"#)
    let read: Change = { ($0.title, $0.badge, $0.userInfo) = ($0.title, $0.badge, $0.userInfo) }
    let unchanged = stage.decide(line, change: read)
    #expect(unchanged.outcome == .passthrough && unchanged.reason == .payloadNoMedia && unchanged.text(of: line) == line)
    let (plain, touched) = (
      stage.decide(line, attachments: [Self.attachment]) { _ in }, stage.decide(line, attachments: [Self.attachment], change: read)
    )
    #expect(plain.outcome == .attached && plain.text(of: line) == touched.text(of: line))
    #expect(plain.text(of: line).hasPrefix(line.dropLast() + #","attache":{"#))
  }

  @Test func `changes and attachments go into one line`() {
    let decision = stage.decide(Self.line(#""alert":"B""#), attachments: [Self.attachment]) { content in
      (content.badge, content.userInfo["z"]) = (1, Array("0".utf8))
    }
    let expected = Self.line(#""alert":"B","badge":1"#).dropLast() + #","z":0,"attache":{"attachments":[{"identifier":"i","#
    #expect(decision.text(of: Self.line(#""alert":"B""#)).hasPrefix(expected))
    #expect(decision.files.count == 1)
  }

  @Test func `an extension's text goes before the vendor's`() throws {
    let words = [DialectText.Override(name: "title", value: "V"), .init(name: "body", value: "W")]
    let reader = PayloadReader("attache", nil, DialectEngine(DialectTable()), overrides: { _ in words })
    let line = Self.line(#""alert":"B""#, #","image":"https://a.example/1""#)
    let payload = try #require(reader.read(line).candidate)
    var content = payload.content(of: line)
    (content.title, content.attachments) = ("X", [Self.attachment])
    let enricher = LineEnricher(Attache.FilterConfiguration(), store: stage.store)
    let decision = enricher.decision([.content(content)], on: [payload], of: Segment(line))
    #expect(decision.text(of: line).contains(#""alert":{"title":"X","body":"W"}"#))
  }

  // MARK: Refusals

  private static let unwritable: [Change] = [
    { $0.badge = -1 }, { $0.userInfo["a"] = [] }, { $0.userInfo["a"] = Array("NaN".utf8) }, { $0.userInfo["a"] = Array("1,2".utf8) },
    { $0.userInfo["a"] = Array("\u{FEFF}1".utf8) }, { $0.userInfo["a"] = [0x22, 0xFF, 0x22] }, { $0.userInfo["aps"] = Array("{}".utf8) },
    { $0.userInfo["attache"] = Array("{}".utf8) }, { $0.body = String(repeating: "x", count: 4_096) },
    { content in for number in 0..<300 { content.userInfo["k\(number)"] = nil } },
  ]

  @Test(arguments: unwritable.indices)
  func `what cannot be written gives the original, without its attachments`(index: Int) {
    let members = (0..<600).map { #","k\#($0 % 2 == 0 ? "\($0 / 2)" : "-\($0)")":0"# }.joined()
    let line = Self.line(#""alert":"B""#, members)
    let decision = stage.decide(line, attachments: [Self.attachment], change: Self.unwritable[index])
    #expect(decision.outcome == .fallback && decision.reason == .extensionContent)
    #expect(decision.text(of: line) == line && decision.files.isEmpty)
  }

  @Test func `the size is that of the payload, and one that was too large may shrink`() {
    let long = Self.line(#""alert":"\#(String(repeating: "x", count: 5_000))""#)
    let shorter = stage.change(long) { $0.body = String(repeating: "y", count: 4_500) }
    #expect(shorter != nil)
    expectRefusal(of: { $0.badge = 1 }, in: long)
    let line = Self.line(#""alert":"B""#)
    let changed = stage.decide(line, configure: { $0.maximumPayload = .bytes(line.utf8.count + 10) }) { $0.badge = 1 }
    #expect(changed.outcome == .attached)
    let refused = stage.decide(line, configure: { $0.maximumPayload = .bytes(line.utf8.count + 9) }) { $0.badge = 1 }
    #expect(refused.reason == .payloadMaximum && refused.text(of: line) == line)
  }
}
