import AttacheTesting
import Testing

/// Lines without attachments go out unchanged.
@Suite(.timeLimit(.minutes(1)))
struct PassThroughTests {
  /// Lines of every kind that names no media, with every line ending.
  private static let lines = [
    #"{"aps":{"alert":"Hello"}}"#, #"{"aps":{"alert":{"title":"Hello","body":"Übergrößen 🎈"},"mutable-content":1}}"#,
    #"{"aps":{"content-available":1},"media-url":"https://example.com/a.png"}"#,
    #"{"aps":{"alert":"","mutable-content":1},"media-url":"https://example.com/a.png"}"#,
    #"{"aps":{"alert":"Hi","mutable-content":1},"attache":{},"media-url":"https://example.com/a.png"}"#,
    #"{"aps":{"alert":"Hi","mutable-content":"1"},"media-url":"https://example.com/a.png"}"#,
    #"  { "aps" : { "alert" : "spaces" } }  "#, "{}", "", " ", "\t", "[]", "null", "12", "\"text\"", "{", "}", "not JSON at all",
    #"{"aps":}"#,
    #"{"aps":{"alert":"Hi"}} {"aps":{"alert":"Hi"}}"#, "\u{FEFF}{\"aps\":{\"alert\":\"mark\"}}", "\0",
  ]

  static func input(count: Int, seed: UInt64) -> [UInt8] {
    var numbers = SeededGenerator(seed: seed)
    let kinds = lines.map { Array($0.utf8) } + [[0x7B, 0xFF, 0xFE, 0x7D], [UInt8](repeating: UInt8(ascii: "["), count: 2_000)]
    var bytes: [UInt8] = []
    for number in 0..<count {
      bytes += kinds[Int(numbers.next() % UInt64(kinds.count))]
      if number < count - 1 { bytes += numbers.next() % 4 == 0 ? [13, 10] : [10] }
    }
    // The last line has no line feed and is not empty.
    return bytes + Array("{}".utf8)
  }

  @Test func `a hundred thousand payloads without media leave byte for byte`() async throws {
    let input = Self.input(count: 100_000, seed: 1)
    let run = try await AttacheTool().run(input: input)
    #expect(run.exit == .status(0))
    #expect(isSame(run.output, input))
    #expect(run.errors.contains("100000 lines: 0 attached, 0 fallback"))
  }

  @Test(arguments: [
    ["--unordered"], ["--jobs", "1"], ["--window", "1"], ["--window", "0"], ["--unordered", "--jobs", "1", "--window", "1KB"],
  ])
  func `payloads without media leave byte for byte whatever the window`(flags: [String]) async throws {
    let input = Self.input(count: 10_000, seed: 2)
    let run = try await AttacheTool().run(flags, input: input)
    #expect(run.exit == .status(0))
    #expect(isSame(run.output, input))
  }

  @Test func `a report beside them has a record for each line, blank ones included`() async throws {
    let input = Self.input(count: 2_000, seed: 3)
    let tool = try AttacheTool()
    let run = try await tool.run(["--report", tool.report], input: input)
    #expect(isSame(run.output, input))
    #expect(try ReportLine.read(tool.report).map(\.line) == Array(1...2_000))
  }
}
