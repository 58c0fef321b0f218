import Attache
import Testing

struct DeepAndLongPayloadTests {
  let reader = PayloadReader()

  @Test(arguments: [10_000, 100_000])
  func `deep nesting is read`(depth: Int) throws {
    let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    let line = candidateLine(#""deep":\#(deep),"image":"https://a.example/1""#)
    #expect(try #require(reader.read(line).candidate).urls == ["https://a.example/1"])
    #expect(reader.read(candidateLine(#""deep":\#(deep)]"#)) == .invalid(.payloadJSON))
  }

  @Test func `deep objects are read`() throws {
    let deep = String(repeating: #"{"a":"#, count: 10_000) + "1" + String(repeating: "}", count: 10_000)
    #expect(reader.read(candidateLine(#""deep":\#(deep)"#)).candidate != nil)
  }

  @Test func `the deepest line of the largest length is read`() throws {
    let length = PayloadReader.maximumLineLength
    let pairs = (length - candidateLine(#""d":"#).utf8.count) / 2
    let deep = String(repeating: "[", count: pairs) + String(repeating: "]", count: pairs)
    let line = candidateLine(#""d":\#(deep)"#)
    #expect(line.utf8.count >= length - 1)
    #expect(reader.read(line).candidate?.splice.offset == line.utf8.count - 1)
  }

  @Test func `nesting that never closes is invalid`() {
    #expect(reader.read(String(repeating: #"{"a":"#, count: 200_000)) == .invalid(.payloadJSON))
    #expect(reader.read(#"{"a":"# + String(repeating: "[", count: 1_000_000)) == .invalid(.payloadJSON))
  }

  @Test func `a deep envelope is spliced where the payload ends`() throws {
    let reader = PayloadReader(payloadPath: JSONPointer("p"))
    let deep = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
    let inner = candidateLine(#""deep":\#(deep)"#)
    let line = #"{"before":\#(deep),"p":\#(inner),"after":\#(deep)}"#
    let start = #"{"before":\#(deep),"p":"#.utf8.count
    #expect(try #require(reader.read(line).candidate).splice.payload == start..<start + inner.utf8.count)
  }

  @Test func `a line of 1 MiB is read and a longer one passes through`() {
    let frame = candidateLine(#""text":"""#).utf8.count
    let text = String(repeating: "x", count: PayloadReader.maximumLineLength - frame)
    let line = candidateLine(#""text":"\#(text)""#)
    #expect(line.utf8.count == PayloadReader.maximumLineLength)
    #expect(reader.read(line).candidate != nil)
    #expect(reader.read(line + " \r").candidate != nil)
    #expect(reader.read(candidateLine(#""text":"\#(text)x""#)) == .passthrough(.nothing, .payloadSize))
  }

  @Test func `a line full of members or elements is read`() {
    let members = (0..<60_000).map { #""k\#($0)":0"# }.joined(separator: ",")
    #expect(reader.read(candidateLine(members)).candidate != nil)
    let elements = Array(repeating: "7", count: 500_000).joined(separator: ",")
    #expect(reader.read(candidateLine(#""k":[\#(elements)]"#)).candidate != nil)
    let empty = Array(repeating: #""""#, count: 300_000).joined(separator: ",")
    #expect(reader.read(candidateLine(#""k":[\#(empty)]"#)).candidate != nil)
  }

  @Test func `of thousands of URLs 64 are kept, and the others are counted`() throws {
    let urls = (0..<10_000).map { #""https://a.example/\#($0)""# }.joined(separator: ",")
    let payload = try #require(reader.read(candidateLine(#""image":[\#(urls)]"#)).candidate)
    #expect(payload.urls == (0..<64).map { "https://a.example/\($0)" })
    #expect(payload.omitted == 9_936)
  }

  @Test func `a URL that is named thousands of times takes one place of the 64`() throws {
    let urls = (0..<9_000).map { #""https://a.example/\#($0 % 63)""# } + [#""https://a.example/last""#]
    let payload = try #require(reader.read(candidateLine(#""image":[\#(urls.joined(separator: ","))]"#)).candidate)
    #expect(payload.urls.count == 64)
    #expect(payload.urls.last == "https://a.example/last")
    #expect(payload.omitted == 0)
  }
}
