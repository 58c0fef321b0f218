import Testing

@testable import Attache

/// Alert text from the vendor's keys: `--apply-overrides`.
struct AlertOverridesTests {
  private static let image = #""image":"https://a.example/1""#

  /// The line with a member and this text; nil if it is not a candidate.
  private func enrich(_ line: String, _ overrides: KeyValuePairs<String, String>, path: JSONPointer? = nil) -> String? {
    let words = overrides.map { DialectText.Override(name: $0.key, value: UntrustedText($0.value)) }
    let reader = PayloadReader("attache", path, DialectEngine(DialectTable()), overrides: { _ in words })
    return reader.read(line).candidate?.enrich(line, with: #""k":1"#)
  }

  private func payload(_ alert: String, _ end: String = "") -> String {
    #"{ "aps" : {"alert":\#(alert),"mutable-content":1}, \#(Self.image)\#(end)}"#
  }

  @Test(arguments: [
    (#"{"title":"T", "body" :"B"}"#, #"{"title":"X", "body" :"B"}"#), (#"{"title":7,"body":"B"}"#, #"{"title":"X","body":"B"}"#),
    (#"{"body":"B"}"#, #"{"body":"B","title":"X"}"#), (#"{"title":"A","ti\u0074le":"T"}"#, #"{"title":"A","ti\u0074le":"X"}"#),
    (#""B\u0042""#, #"{"title":"X","body":"B\u0042"}"#), (#"{"title":"X"}"#, #"{"title":"X"}"#),
  ])
  func `a title takes the place of the one that is there, or comes behind what is`(alert: String, changed: String) {
    #expect(enrich(payload(alert), ["title": "X"]) == payload(changed, #","k":1"#))
  }

  @Test(arguments: [
    (#""B""#, #"{"title":"X","subtitle":"Y","body":"Z"}"#), (#"{"title":"T","n":[]}"#, #"{"title":"X","n":[],"subtitle":"Y","body":"Z"}"#),
    (#"{"loc-key":"L","subtitle":""}"#, #"{"loc-key":"L","subtitle":"Y","title":"X","body":"Z"}"#),
  ])
  func `title, subtitle and body are put in together, and nothing else is`(alert: String, changed: String) {
    let words: KeyValuePairs = ["category": "c", "title": "X", "badge": "7", "body": "Z", "subtitle": "Y"]
    #expect(enrich(payload(alert), words) == payload(changed, #","k":1"#))
  }

  @Test func `a text is escaped, and of two for one field the first counts`() {
    #expect(
      enrich(payload(#"{"body":"B"}"#), ["body": "\"\\\n😀", "body": "Z"]) == payload(#"{"body":"\"\\\n😀"}"#, #","k":1"#))
  }

  @Test(arguments: [#""B""#, #"{"body":"B"}"#, #"{"body":"B","title":""}"#])
  func `what would leave the alert without words is left out`(alert: String) {
    #expect(enrich(payload(alert), ["body": ""]) == payload(alert, #","k":1"#))
  }

  @Test(arguments: [
    (#"{"body":"B","title":"T"}"#, #"{"body":"","title":"T"}"#), (#"{"body":"B","loc-key":"L"}"#, #"{"body":"","loc-key":"L"}"#),
  ])
  func `an empty text is put in where other words are left`(alert: String, changed: String) {
    #expect(enrich(payload(alert), ["body": ""]) == payload(changed, #","k":1"#))
  }

  @Test func `a payload without media, or without words, is left as it is`() throws {
    let reader = PayloadReader("attache", nil, DialectEngine(DialectTable()), overrides: { _ in [.init(name: "title", value: "X")] })
    #expect(try #require(reader.read(candidateLine()).candidate).overrides.isEmpty)
    #expect(enrich(payload(#"{"body":"B"}"#), [:]) == payload(#"{"body":"B"}"#, #","k":1"#))
  }

  @Test func `in a string the words are escaped as the member is`() {
    let (before, after) = (payload(#"{"title":"T"}"#), payload(#"{"title":"X"}"#, #","k":1"#))
    func line(_ payload: String) -> String {
      #"{"APNS_SANDBOX":"\#(JSONString.text(payload[...]))","APNS":"\#(JSONString.text(payload[...]))"}"#
    }
    #expect(enrich(line(before), ["title": "X"]) == line(after))
    func twice(_ payload: String) -> String {
      #"{"MessageStructure":"json","Message":"\#(JSONString.text(#"{"APNS":"\#(JSONString.text(payload[...]))"}"#[...]))"}"#
    }
    #expect(enrich(twice(before), ["title": "X"]) == twice(after))
    func path(_ payload: String) -> String { #"{"p":"\#(JSONString.text(payload[...]))"}"# }
    #expect(enrich(path(before), ["title": "X"], path: JSONPointer("p")) == path(after))
    #expect(enrich(#"{"p":\#(before)}"#, ["title": "X"], path: JSONPointer("p")) == #"{"p":\#(after)}"#)
  }

  @Test func `where FCM would show the notification's words, they are written along`() {
    func line(_ aps: String, _ end: String) -> String {
      #"{"message":{"notification":{"title":"T\u0054","body":"B"},"apns":{"payload":{"aps":{\#(aps)},\#(Self.image)\#(end)}}}}"#
    }
    let flag = #""mutable-content":1"#
    #expect(
      enrich(line(flag, ""), ["body": "X"]) == line(flag + #","alert":{"title":"T\u0054","body":"X"}"#, #","k":1"#))
    #expect(
      enrich(line(flag + #","alert":"A""#, ""), ["title": "X"]) == line(flag + #","alert":{"title":"X","body":"A"}"#, #","k":1"#))
  }

  @Test func `gorush's words go into its alert, with the message that it would show alone`() {
    func line(_ texts: String, _ end: String, _ tail: String = "") -> String {
      #"{"platform":1,"tokens":["t"],"mutable_content":true,\#(texts),"data":{\#(Self.image)\#(end)}\#(tail)}"#
    }
    #expect(
      enrich(line(#""message":"M""#, ""), ["title": "X"]) == line(#""message":"M""#, #","k":1"#, #","alert":{"title":"X","body":"M"}"#))
    #expect(
      enrich(line(#""message":"M","title":"T""#, ""), ["title": "X"])
        == line(#""message":"M","title":"T""#, #","k":1"#, #","alert":{"title":"X"}"#))
    #expect(
      enrich(line(#""alert":{"title":"T"}"#, ""), ["title": "X"]) == line(#""alert":{"title":"X"}"#, #","k":1"#))
  }

  @Test func `Expo's words are its message's own members`() {
    let line = #"{"to":"ExpoPushToken[x]","body":"B","mutableContent":true,"data":{"a":1},"richContent":{"image":"https://a.example/1"}}"#
    let words = [DialectText.Override(name: "title", value: "X"), .init(name: "body", value: "Y")]
    let table = DialectTable(mediaKeys: [JSONPointer("body", "_richContent", "image")])
    let reader = PayloadReader("attache", nil, DialectEngine(table), overrides: { _ in words })
    #expect(
      reader.read(line).candidate?.enrich(line, with: #""k":1"#)
        == #"{"to":"ExpoPushToken[x]","body":"Y","mutableContent":true,"data":{"a":1,"k":1},"richContent":{"image":"https://a.example/1"},"title":"X"}"#
    )
  }

  @Test func `the payload's length counts the words`() throws {
    let reader = PayloadReader("attache", nil, DialectEngine(DialectTable()), overrides: { _ in [.init(name: "title", value: "Longer")] })
    let line = payload(#"{"title":"T"}"#)
    var candidate = try #require(reader.read(line).candidate)
    let isApplied = candidate.apply(candidate.overrides, in: Segment(line))
    #expect(isApplied)
    #expect(candidate.splice.payloadLength(with: 5) == candidate.enrich(line, with: #""k":1"#).utf8.count)
  }
}
