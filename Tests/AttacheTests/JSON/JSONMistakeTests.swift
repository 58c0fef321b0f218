import AttacheTesting
import Testing

@testable import Attache

extension JSONMistake {
  init(_ line: String) {
    self.init(Array(line.utf8))
  }

  init(_ line: [UInt8]) {
    self = unsafe line.withUnsafeBytes { unsafe JSONMistake(of: $0) }
  }
}

/// What is wrong with lines that people write.
struct JSONMistakeTests {
  @Test(
    arguments: [
      ("{", .prettyPrinted, 2), (#"  "aps": {"#, .prettyPrinted, 8), (#""mutable-content": 1"#, .prettyPrinted, 18),
      (#"    "title": "Hi","#, .prettyPrinted, 12),
      ("}", .prettyPrinted, 1), ("  },", .prettyPrinted, 3), ("[", .prettyPrinted, 2), ("]", .prettyPrinted, 1),
      (#""a","#, .prettyPrinted, 4),
      ("1,", .prettyPrinted, 2), (#"{"aps":{"alert":"Hi"},"#, .prettyPrinted, 23),
      (#"{"aps":{"alert":"He"#, .cutOff, 20), (#"{"aps":{"ale"#, .cutOff, 13), (#"{"a":tru"#, .cutOff, 9), (#"{"a":"\u00"#, .cutOff, 11),
      (#"{"a":1},"#, .listed, 8), (#"{"a":1}{"b":2}"#, .several, 8), ("{} {}", .several, 4), ("{}//", .comment, 3),
      ("[]", .array, 1), (#" [{"aps":{}}]"#, .array, 2), (#""{\"aps\":{}}""#, .string, 1), ("1", .scalar, 1), ("null", .scalar, 1),
      ("Anna sent a picture", .text, 1), ("<html>", .text, 1), ("2026-11-28 payload", .text, 5), (#""a","b""#, .text, 4),
      ("true story", .text, 6),
      ("{'aps':{}}", .singleQuotes, 2), (#"{"a":'b'}"#, .singleQuotes, 6), ("{\u{201C}a\u{201D}:1}", .typographicQuotes, 2),
      (#"{"a":"He said "hi" there"}"#, .unescapedQuote, 16), ("{\"a\":\"\t\"}", .control, 7), ("{\"a\":\"\0\"}", .control, 7),
      ("\u{1B}[1m{}", .text, 1), ("{\"a\":1}\0", .several, 8), ("{\"a\":\u{1B}[31m}", .punctuation, 6),
      (#"{"a":"C:\x"}"#, .escape, 10), (#"{"a":"it\'s"}"#, .escape, 10), (#"{"a":"\u12g4"}"#, .escape, 11),
      (#"{"a":1,}"#, .trailingComma, 8), (#"{"é":[1, ] }"#, .trailingComma, 10), ("{aps:{}}", .unquotedName, 2),
      (#"{"a":1,b:2}"#, .unquotedName, 8),
      (#"{"a":hello}"#, .unquotedText, 6), (#"{"a":1 /* one */}"#, .comment, 8), (#"{"a":1, // one"#, .comment, 9),
      (#"{"a":01}"#, .number, 7), (#"{"a":+1}"#, .number, 6), (#"{"a":.5}"#, .number, 6), (#"{"a":1.}"#, .number, 8),
      (#"{"a":0x10}"#, .number, 7),
      (#"{"a":}"#, .punctuation, 6), (#"{"a"}"#, .punctuation, 5), (#"{,"a":1}"#, .punctuation, 2), (#"{"a":1 "b":2}"#, .punctuation, 8),
      ("{}}", .punctuation, 3),
      (#"{"a":NaN}"#, .notANumber, 6), (#"{"a":-Infinity}"#, .notANumber, 7), (#"{"a":[Infinity]}"#, .notANumber, 7),
      (#"{"a":True}"#, .pythonWord, 6), (#"{"a":None}"#, .pythonWord, 6), (#"{"a":undefined}"#, .undefined, 6),
      ("\u{FEFF}{\"a\":1,}", .trailingComma, 8), ("{\"a\":1,} \r", .trailingComma, 8),
    ] as [(String, JSONMistake.Cause, Int)])
  func `a mistake has its kind and its column`(line: String, cause: JSONMistake.Cause, column: Int) {
    let mistake = JSONMistake(line)
    #expect(mistake.cause == cause)
    #expect(mistake.column == column)
  }

  @Test(
    arguments: [[0xFF, 0xFE, 0x7B, 0], [0, 0x7B, 0, 0x22, 0, 0x61], [0x7B, 0, 0x22, 0, 0x61, 0], [0], [0xFE, 0xFF, 0, 0x7B]] as [[UInt8]])
  func `UTF-16 is known by its zeros`(bytes: [UInt8]) {
    #expect(JSONMistake(bytes).cause == .utf16)
  }

  @Test func `compressed input and other encodings are named`() {
    #expect(JSONMistake([0x1F, 0x8B, 8, 0]).cause == .compressed)
    let latin = JSONMistake(Array(#"{"a":""#.utf8) + [0xE9, 0x22, 0x7D])
    #expect(latin.cause == .notUTF8 && latin.column == 7)
  }

  @Test func `every invalid line has a printable sentence that says what to do`() {
    for cause in JSONMistake.Cause.allCases { #expect(!LineCause.json(JSONMistake("{")).text.isEmpty, "\(cause)") }
  }

  @Test(arguments: 0..<20) func `any bytes have a cause`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let bytes = Array(#"{}[]:,"'\u01-.+eEtnN /"#.utf8) + [0x0A, 0x1F, 0, 0xE9, 0xFF, 0xE2, 0x80, 0x9C]
    for _ in 0..<500 {
      let line = (0..<Int.random(in: 1...24, using: &random)).map { _ in bytes.randomElement(using: &random) ?? 0 }
      #expect((1...line.count + 1).contains(JSONMistake(line).column), "\(line)")
    }
  }
}
