import AttacheTesting
import Testing

/// Which outputs are allowed for a line with an envelope.
struct EnvelopedLineTests {
  private static let member = #""attache":{"attachments":[{"url":"u","type":"t","size":1,"sha256":"s"}]}"#
  private static let escaped = member.replacing("\"", with: #"\""#)

  private func isAllowed(_ line: String, from original: String, _ place: OutputPlace = OutputPlace()) -> Bool {
    var evidence = Evidence(input: [Array(original.utf8)])
    evidence.output = Array((line + "\n").utf8)
    evidence.place = place
    return PromiseCheck().findings(RunAnalysis(evidence, allowedChanges: .splice(place))).isEmpty
  }

  @Test(arguments: [
    (#"{"m":{"p":{"aps":{}<here>}},"z":0}"#, ",\(member)"), (#"{"app_id":"a"<here>}"#, ",\"data\":{\(member)}"),
    (#"{"app_id":"a","data":{<here>}}"#, member), (#"{"APNS":"{\"aps\":{}<here>}"}"#, ",\(escaped)"),
    (#"{"APNS":"{\"aps\":{}<here>}","APNS_SANDBOX":"{\"aps\" : {}<here>}"}"#, ",\(escaped)"),
  ])
  func `the member may come in wherever the payload is, and in two places alike`(marked: String, member: String) {
    let original = marked.replacing("<here>", with: "")
    let line = marked.replacing("<here>", with: member)
    #expect(isAllowed(line, from: original))
    #expect(!isAllowed(line.replacing("{\"", with: "{ \""), from: original))
    #expect(!isAllowed(line.replacing("attachments", with: "files"), from: original))
    #expect(!isAllowed(String(line.dropLast()) + #","more":1}"#, from: original))
  }

  @Test func `each notification of a request may gain a member of its own`() {
    let marked = #"{"notifications":[{"data":{"a":"}"<1>}},{"x":{"y":1} <2>},{"z":2}],"sync":true}"#
    let second = Self.member.replacing(#""size":1"#, with: #""size":22"#)
    let original = marked.replacing("<1>", with: "").replacing("<2>", with: "")
    let line = marked.replacing("<1>", with: ",\(Self.member)").replacing("<2>", with: ",\"data\":{\(second)}")
    #expect(isAllowed(line, from: original))
    #expect(isAllowed(marked.replacing("<1>", with: "").replacing("<2>", with: ",\(second)"), from: original))
    #expect(!isAllowed(line.replacing("\"z\":2", with: "\"z\" :2"), from: original))
    #expect(!isAllowed(line.replacing("\"z\":2", with: "\"z\":2,\"w\":3"), from: original))
    #expect(!isAllowed(line.replacing("attachments", with: "files"), from: original))
    #expect(GainedAttachment.read(Array(line.utf8)[...])?.map(\.size) == [1, 22])
  }

  @Test func `the texts of the alert may change where the flags say so, and nothing else`() {
    let original = #"{"aps":{"alert":"Hi","badge":1}}"#
    let line = #"{"aps":{"alert":{"title":"X","body":"Hi"},"badge":1},\#(Self.member)}"#
    #expect(isAllowed(line, from: original, OutputPlace(appliesOverrides: true)))
    #expect(!isAllowed(line, from: original))
    #expect(!isAllowed(line.replacing("\"badge\":1", with: "\"badge\":2"), from: original, OutputPlace(appliesOverrides: true)))
  }

  @Test func `the attachments are read wherever they are`() {
    let line = Array(#"{"APNS":"{\"aps\":{},\#(Self.escaped)}"}"#.utf8)
    #expect(GainedAttachment.read(line[...])?.map(\.url) == ["u"])
    #expect(GainedAttachment.read(Array(#"{"APNS":"{\"aps\":{}}"}"#.utf8)[...]) == nil)
  }
}
