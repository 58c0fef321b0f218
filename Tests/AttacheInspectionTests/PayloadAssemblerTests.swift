@testable import Attache
@testable import AttacheInspection
import Testing

@testable import Attache

/// How an input is split into payloads.
struct PayloadAssemblerTests {
  /// The payloads of a text, each with the line where it begins.
  private func payloads(_ text: String) -> [String] {
    var assembler = PayloadAssembler()
    var payloads: [InputPayload] = []
    for (index, line) in Array(text.utf8).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      payloads += assembler.add(line + [UInt8(ascii: "\n")], number: index + 1)
    }
    payloads += assembler.finish()
    return payloads.map { "\($0.line): " + String(decoding: JSONText($0.bytes).compact, as: UTF8.self) }
  }

  @Test func `a line is a payload, and blank ones are none`() {
    #expect(payloads("{\"a\":1}\n\n  \t\r\n{\"b\":2}\r\nhello") == ["1: {\"a\":1}", "4: {\"b\":2}", "5: hello"])
  }

  @Test func `an object goes on until its braces balance`() {
    #expect(
      payloads("{\n  \"a\": {\n    \"b\": [\n      {\n      }\n    ]\n  }\n}\n{\"c\":1}") == ["1: {\"a\":{\"b\":[{}]}}", "9: {\"c\":1}"])
  }

  @Test func `braces in strings do not count`() {
    #expect(payloads("{\n\"a\": \"}}\\\"}\",\n\"b\": \"{\"\n}\n7") == [#"1: {"a":"}}\"}","b":"{"}"#, "5: 7"])
  }

  @Test func `an indented list without indentation is one payload`() {
    #expect(payloads("{\n\"a\": [\n{\n\"b\": 1\n},\n{\n\"c\": 2\n}\n]\n}") == [#"1: {"a":[{"b":1},{"c":2}]}"#])
  }

  @Test func `an object that never balances is its first line alone`() {
    #expect(payloads("{\n\"a\": 1,\n{\"b\":2}\n{\"c\":3}") == ["1: {", "2: \"a\":1,", "3: {\"b\":2}", "4: {\"c\":3}"])
    #expect(payloads("{\"a\":{\"b\":1}\n{\"c\":3}") == ["1: {\"a\":{\"b\":1}", "2: {\"c\":3}"])
    #expect(
      payloads("{\"a\": \"cut off\n{\"c\":3}") == ["1: {\"a\":\"cutoff", "2: {\"c\":3}"].map { $0.replacing("cutoff", with: "cut off") })
    #expect(payloads("{\n{\n{\n{\"a\":1}") == ["1: {", "2: {", "3: {", "4: {\"a\":1}"])
  }

  @Test func `what follows a closed object on its line is no part of a payload`() {
    #expect(payloads("{\n\"a\":1\n} }\n{}") == ["1: {", "2: \"a\":1", "3: }}", "4: {}"])
  }

  @Test func `a byte order mark may stand before it`() {
    #expect(payloads("\u{FEFF}{\n\"a\":1}") == ["1: \u{FEFF}{\"a\":1}"])
  }

  @Test func `an object of more than 1 MiB is not gathered`() {
    var assembler = PayloadAssembler()
    var payloads = assembler.add(Array("{\n".utf8), number: 1)
    let line = Array("\"a\": \"\(String(repeating: "x", count: 1000))\",\n".utf8)
    for number in 2...1100 { payloads += assembler.add(line, number: number) }
    #expect(payloads.first == InputPayload(line: 1, bytes: Array("{".utf8)))
    #expect(payloads.count > 1000)
  }
}
