import AttacheTesting
import Attache
import Foundation
import Testing

struct SpliceTests {
  @Test func `a member goes before the brace and the rest stays`() {
    let edits = Splice(payload: 0..<8).edits(with: Array(#""k":2"#.utf8))
    #expect(String(decoding: LineEdit.apply(edits, to: "{\"a\":1 }\r\n".utf8), as: UTF8.self) == #"{"a":1 ,"k":2}"# + "\r\n")
  }

  @Test func `an empty object takes no comma`() {
    let splice = Splice(payload: 2..<5, isEmptyObject: true)
    let line = LineEdit.apply(splice.edits(with: Array(#""k":2"#.utf8)), to: "  { } ".utf8)
    #expect(String(decoding: line, as: UTF8.self) == #"  { "k":2} "#)
    #expect(splice.payloadLength(with: 5) == 8)
  }

  @Test func `several changes are made by their places, and of two at one place the first comes first`() {
    let edits = [LineEdit(4..<4, [0x78]), LineEdit(1..<3, [0x59]), LineEdit(4..<4, [0x7A]), LineEdit(5..<5, [0x21])]
    #expect(String(decoding: LineEdit.apply(edits, to: "abcde".utf8), as: UTF8.self) == "aYdxze!")
    #expect(LineEdit.apply([], to: [1, 2, 3][1...]) == [2, 3])
  }

  @Test func `the payload's length counts its own bytes alone`() throws {
    let line = #" {"p":\#(candidateLine())} "#
    let payload = try #require(PayloadReader(payloadPath: JSONPointer("p")).read(line).candidate)
    #expect(payload.splice.payloadLength(with: 5) == candidateLine().utf8.count + 1 + 5)
  }

  @Test(arguments: 0..<200)
  func `the enriched line is the original plus the member for any parser`(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let members = (0..<Int.random(in: 0..<5, using: &random)).map { #""m\#($0)":\#(JSONSample.value(depth: 3, using: &random))"# }
    let space = JSONSample.space(using: &random)
    let line = space + candidateLine(members.joined(separator: space + "," + space)).dropLast() + space + "}" + space
    let payload = try #require(PayloadReader().read(line).candidate)
    let enriched = payload.enrich(line, with: #""attache":{"attachments":[]}"#)

    var expected = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    expected["attache"] = ["attachments": [Any]()]
    let found = try #require(JSONSerialization.jsonObject(with: Data(enriched.utf8)) as? [String: Any])
    #expect(NSDictionary(dictionary: found) == NSDictionary(dictionary: expected))
    #expect(PayloadReader().read(enriched) == .passthrough(.alert, .payloadEnriched))
  }
}
