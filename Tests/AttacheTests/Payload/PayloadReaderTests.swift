import Attache
import Testing

struct PayloadReaderTests {
  let reader = PayloadReader()

  @Test(arguments: ["", " ", "\t", "\r", " \t \r", "\u{FEFF}", "\u{FEFF} \r"])
  func `a blank line passes through`(line: String) {
    #expect(reader.read(line).withoutCause == .passthrough(.nothing, .payloadNoAlert))
  }

  @Test(arguments: [
    "1", "-0.5", "\"x\"", "null", "true", "[]", #"[{"aps":{}}]"#, "{", "}", "{} {}", "{}{}", "{},", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#,
    #"{,"a":1}"#, "{'a':1}", "{a:1}", #"{"a":01}"#, #"{"a":1.}"#, #"{"a":.5}"#, #"{"a":+1}"#, #"{"a":NaN}"#, #"{"a":Infinity}"#,
    #"{"a":"b}"#, #"{"a":tru}"#, #"{"a":nul}"#, #"{"a":"\x"}"#, #"{"a":"\u12g4"}"#, "{\"a\":\"\t\"}", "{\"a\":\"\0\"}", "{}\0",
    "{}//", "\u{FEFF}\u{FEFF}{}", "\u{A0}{}",
  ])
  func `what is no JSON object is invalid`(line: String) {
    #expect(reader.read(line) == .invalid(.payloadJSON))
  }

  @Test(
    arguments: [
      [0xFF], [0xC3], [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80], [0xE2, 0x82],
    ] as [[UInt8]])
  func `invalid UTF-8 is invalid`(bytes: [UInt8]) {
    let line = Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)
    #expect(reader.read(line) == .invalid(.payloadJSON))
  }

  @Test(arguments: [("", ""), ("", " \t "), ("", "\r"), ("", " \r"), ("  ", ""), ("\u{FEFF}", "\r"), ("\u{FEFF} ", " ")])
  func `white space and a byte order mark around the payload stay and count`(before: String, after: String) throws {
    let payload = candidateLine()
    let found = try #require(reader.read(before + payload + after).candidate)
    #expect(found.splice.payload == before.utf8.count..<before.utf8.count + payload.utf8.count)
    #expect(found.enrich(before + payload + after, with: #""k":1"#) == before + payload.dropLast() + #","k":1}"# + after)
  }

  @Test func `an escaped key is the key that it spells`() throws {
    let line = #"{"\u0061ps":{"al\u0065rt":"Hi","mutable\u002dcontent":1},"im\u0061ge":"https:\/\/a.example\/\u0061.png"}"#
    let payload = try #require(reader.read(line).candidate)
    #expect(payload.content(of: line).body == "Hi")
    #expect(payload.urls == ["https://a.example/a.png"])
  }

  @Test func `of duplicate keys the last counts`() throws {
    #expect(reader.read(#"{"aps":{"alert":"Hi","mutable-content":1},"aps":{"alert":"Hi"}}"#) == .passthrough(.alert, .payloadNotMutable))
    #expect(reader.read(#"{"aps":{"alert":"Hi","mutable-content":1,"mutable-content":0}}"#) == .passthrough(.alert, .payloadNotMutable))
    #expect(reader.read(#"{"aps":{"alert":"Hi","mutable-content":1,"alert":""}}"#) == .passthrough(.nothing, .payloadNoAlert))
    let line =
      #"{"aps":7,"image":"https://a.example/1","aps":{"mutable-content":0,"alert":"1","alert":{"body":"2","body":"3"},"mutable-content":1},"image":"https://a.example/2"}"#
    let payload = try #require(reader.read(line).candidate)
    #expect(payload.content(of: line).body == "3")
    #expect(payload.urls == ["https://a.example/2"])
  }

  @Test(arguments: [
    #""attache":{}"#, #""attache":null"#, #""att\u0061che":1"#, #""attache":{"attachments":[]},"image":"https://a.example/1""#,
  ])
  func `a payload that has the member passes through`(member: String) {
    #expect(reader.read(candidateLine(member)) == .passthrough(.alert, .payloadEnriched))
  }

  @Test func `the member may have another name`() {
    let reader = PayloadReader(outputKey: "médias")
    #expect(reader.read(candidateLine(#""médias":1"#)) == .passthrough(.alert, .payloadEnriched))
    #expect(reader.read(candidateLine(#""attache":1"#)).candidate != nil)
  }

  @Test func `the member counts only at the top of a payload, of any kind of push`() {
    #expect(reader.read(candidateLine(#""data":{"attache":1}"#)).candidate != nil)
    #expect(reader.read(#"{"aps":{"alert":"Hi"},"attache":1}"#) == .passthrough(.alert, .payloadEnriched))
  }

  @Test func `what was read of one line does not colour the next`() {
    let first = reader.read(candidateLine(#""image":"https://a.example/1""#))
    #expect(reader.read("{}") == .passthrough(.nothing, .payloadNoAlert))
    #expect(reader.read(#"{"aps":{"mutable-content":1}}"#) == .passthrough(.nothing, .payloadNoAlert))
    #expect(reader.read("{") == .invalid(.payloadJSON))
    #expect(reader.read(candidateLine(#""image":"https://a.example/1""#)) == first)
  }
}
