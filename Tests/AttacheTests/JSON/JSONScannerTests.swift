import AttacheTesting
import Testing

@testable import Attache

/// The scanner's tokens, and its agreement with simdjson about what is JSON.
struct JSONScannerTests {
  /// The sources of a text's tokens; nil if it is not JSON.
  private func tokens(_ text: [UInt8]) -> [String]? {
    var scanner = JSONScanner()
    var tokens: [String] = []
    do {
      while let token = try scanner.next(in: text.span) {
        tokens.append("\(token) \(String(decoding: text[scanner.range], as: UTF8.self))")
      }
    } catch { return nil }
    return tokens
  }

  @Test func `tokens come in the order of the text`() {
    #expect(
      tokens(Array(#" {"a" : [1, -2.5e+3,true ],"\"b":{},"c":"d\\" } "#.utf8)) == [
        "beginObject {", #"name "a""#, "beginArray [", "number 1", "number -2.5e+3", "word true", "end ]", #"name "\"b""#, "beginObject {",
        "end }", #"name "c""#, #"string "d\\""#, "end }",
      ])
  }

  @Test(arguments: 0..<20) func `a text is JSON if simdjson parses it`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let parser = JSONParser()
    let bytes = Array(#"{}[]:,"\u01-.+eE tn"#.utf8) + [0x0A, 0x1F]
    for _ in 0..<500 {
      var text = Array(JSONSample.value(depth: 3, using: &random).utf8)
      for _ in 0..<Int.random(in: 0..<3, using: &random) {
        let index = Int.random(in: 0..<text.count, using: &random)
        text.replaceSubrange(
          index..<index + Int.random(in: 0...1, using: &random), with: bytes.randomElement(using: &random).map { [$0] } ?? [])
      }
      guard String(validating: text, as: UTF8.self) != nil else { continue }
      #expect((tokens(text) != nil) == (parser.parse(copying: text) != nil), "\(String(decoding: text, as: UTF8.self))")
    }
  }
}
