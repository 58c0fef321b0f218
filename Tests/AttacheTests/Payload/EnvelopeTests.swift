import Attache
import Testing

/// The payload inside an envelope: `--payload-path`.
struct EnvelopeTests {
  @Test(arguments: [
    ("/payload", #"{"token":"}","payload":"#, #","after":{"a":1}}"#),
    ("/payload", #"{"payload":{"aps":1},"x":[1,2.5e3,"]",{"}":"{"}],"payload" : "#, #" , "n":null } "#),
    ("/message/payload", #"{"message":{"a":[[],{}],"payload":"#, #"},"payload":{}}"#),
    ("/messages/1", #"{"messages":[{"aps":{}},"#, #",{}]}"#),
    ("/messages/0/a~1b", #"{"messages":[{"q\"\\":"\\\"","a\u002fb":"#, #"}]}"#),
    ("/0", #"{"0":"#, #"}"#),
    ("/", #"{"":"#, #"}"#),
    ("/p", "\u{FEFF} {\"big\":1e400,\"p\":", "}\r"),
  ])
  func `the member goes into the payload`(path: String, before: String, after: String) throws {
    let reader = PayloadReader(payloadPath: try JSONPointer(pointer: path))
    let inner = candidateLine(#""image":"https://a.example/}.png""#)
    let payload = try #require(reader.read(before + inner + after).candidate)
    #expect(payload.urls == ["https://a.example/%7D.png"])
    #expect(payload.splice.payload == before.utf8.count..<(before + inner).utf8.count)
    #expect(payload.enrich(before + inner + after, with: #""k":1"#) == before + inner.dropLast() + #","k":1}"# + after)
  }

  @Test func `the last of two envelopes counts`() throws {
    let reader = PayloadReader(payloadPath: JSONPointer("p"))
    let inner = candidateLine()
    let line = #"{"p":\#(inner),"p":\#(inner)}"#
    #expect(try #require(reader.read(line).candidate).splice.offset == line.utf8.count - 2)
    #expect(reader.read(#"{"p":\#(inner),"p":1}"#).withoutCause == .passthrough(.nothing, .payloadNoAlert))
  }

  @Test(arguments: ["{}", #"{"p":1}"#, #"{"p":"{}"}"#, #"{"p":[]}"#, #"{"p":null}"#, candidateLine()])
  func `a line without an object at the path passes through`(line: String) {
    #expect(PayloadReader(payloadPath: JSONPointer("p")).read(line).withoutCause == .passthrough(.nothing, .payloadNoAlert))
  }

  @Test(arguments: ["-", "01", "2", "+1", "99999999999999999999"])
  func `only an index names an element`(part: String) {
    #expect(
      PayloadReader(payloadPath: JSONPointer("p", part)).read(#"{"p":[{},\#(candidateLine())]}"#).withoutCause
        == .passthrough(.nothing, .payloadNoAlert))
  }

  @Test func `the empty path is the whole line`() throws {
    #expect(PayloadReader(payloadPath: try JSONPointer(pointer: "")).read(candidateLine()).candidate != nil)
  }

  @Test func `a line that is no object is invalid whatever the path`() {
    #expect(PayloadReader(payloadPath: JSONPointer("0")).read("[\(candidateLine())]") == .invalid(.payloadJSON))
  }
}
