import Attache
import Testing

/// The grammar of JSON allows numbers beyond 64 bits and unpaired surrogates. Such lines are
/// parsed, and their bytes stay as they are.
struct JSONLeniencyTests {
  let reader = PayloadReader()

  @Test(arguments: [
    "1e400", "-1e400", "1E+400", "18446744073709551616", "-9223372036854775809", "123456789012345678901234567890", "1e99999999999999999999",
    "-0.1e999", "[1e400,-1e400,{\"b\":1e400}]", #""\ud800""#, #""\udc00""#, #""\uD83D x""#, #""\ud83d\ud83d\ude00""#, #""\ud800\\udc00""#,
    #""a\\\ud800""#,
  ])
  func `numbers of any size and half a surrogate pair are valid`(value: String) throws {
    let line = #"{"a":\#(value),"aps":{"alert":"Hi \ud83d\ude00 \\ \"}","mutable-content":1},"image":"https://a.example/1","b":\#(value) }"#
    let payload = try #require(reader.read(line).candidate)
    #expect(payload.content(of: line).body == "Hi 😀 \\ \"}")
    #expect(payload.urls == ["https://a.example/1"])
    #expect(payload.splice.offset == line.utf8.count - 1)
  }

  @Test(arguments: [
    "01e400", "1e400x", "1.e400", ".1e400", "+1e400", "1e+", "1e400 1", "--1e400", "0123456789012345678901234567890", "1e400.5", "1_e400",
    "12345678901234567890123é", #"1e400,"b":tru"#, #""\ud800","b":"\x""#, #""\ud800","b":"\u00g0""#, #""\ud80""#, #""\ud800"#,
  ])
  func `what breaks the grammar stays invalid beside them`(value: String) {
    #expect(reader.read(#"{"a":1e400,"b":\#(value)}"#) == .invalid(.payloadJSON))
    #expect(reader.read(#"{"a":\#(value)}"#) == .invalid(.payloadJSON))
  }

  @Test func `a number out of range is no badge and no flag`() throws {
    let line = #"{"aps":{"alert":"Hi","mutable-content":1,"badge":99999999999999999999}}"#
    #expect(try #require(reader.read(line).candidate).content(of: line).badge == nil)
    #expect(reader.read(#"{"aps":{"alert":"Hi","mutable-content":1e400}}"#) == .passthrough(.alert, .payloadNotMutable))
  }

  @Test func `a flag counts beside a number out of range`() {
    #expect(reader.read(#"{"aps":{"alert":"Hi","mutable-content":1.0},"a":1e400}"#).candidate != nil)
    #expect(reader.read(#"{"aps":{"alert":"Hi","mutable-content":1.00000000000000000000},"a":1e400}"#).candidate != nil)
  }

  @Test func `half a surrogate pair reads as the replacement character`() throws {
    let line = #"{"aps":{"alert":"a\ud800b","mutable-content":1}}"#
    #expect(try #require(reader.read(line).candidate).content(of: line).body == "a\u{FFFD}b")
  }

  @Test(.timeLimit(.minutes(1))) func `a line full of numbers out of range is read in one pass`() {
    let numbers = Array(repeating: "1e999", count: 150_000).joined(separator: ",")
    #expect(reader.read(#"{"aps":{"alert":"Hi","mutable-content":1},"n":[\#(numbers)]}"#).candidate != nil)
  }
}
