import Attache
import AttacheInspection
import Foundation
import Testing

/// `attache lint`: its status, its forms, its list.
@Suite(.timeLimit(.minutes(1)))
struct LintCommandTests {
  private static let clean = #"{"aps":{"alert":"Hello","mutable-content":1},"image":"https://cdn.example/a.jpg"}"#
  private static let faulty = #"{"aps":{"alert":"Hello","mutable-content":"1"},"image":"https://cdn.example/a.jpg"}"#

  @Test func `findings end with 1, none with 0`() async throws {
    let found = try await AttacheTool().run(["lint"], input: "\(Self.clean)\n\(Self.faulty)\n")
    #expect(found.exit == .status(1))
    #expect(
      found.text == "<stdin>:2: error: mutable-content.value: mutable-content is the string “1”, not the number 1: "
        + "no service extension runs [/aps/mutable-content]\n")
    #expect(found.errors == "")
    let none = try await AttacheTool().run(["lint"], input: Self.clean)
    #expect(none.exit == .status(0))
    #expect(none.output == [])
  }

  @Test func `findings stand under the file's name and the line where the payload begins`() async throws {
    let tool = try AttacheTool()
    let path = tool.home["payloads.json"]
    try "{\n  \"aps\": {\n    \"badge\": \"3\"\n  }\n}\n\(Self.faulty)".write(toFile: path, atomically: true, encoding: .utf8)
    let lines = try await tool.run(["lint", path]).text.split(separator: "\n")
    #expect(lines.map { $0.prefix { $0 != " " } } == ["\(path):1:", "\(path):6:"])
  }

  @Test(arguments: ["json", "sarif"])
  func `the forms for programs are JSON`(format: String) async throws {
    let run = try await AttacheTool().run(["lint", "--format", format], input: Self.faulty)
    #expect(run.exit == .status(1))
    let object = try #require(try JSONSerialization.jsonObject(with: Data(run.output)) as? [String: Any])
    #expect(object[format == "json" ? "code" : "version"] as? String == (format == "json" ? "mutable-content.value" : "2.1.0"))
  }

  @Test func `--list prints each code with severity, sentence, advice and source`() async throws {
    let run = try await AttacheTool().run(["lint", "--list"])
    #expect(run.exit == .status(0))
    let rows = run.text.split(separator: "\n")
    #expect(rows.map { String($0.prefix { $0 != " " }) } == FindingCode.allCases.map(\.rawValue))
    for (row, code) in zip(rows, FindingCode.allCases) {
      #expect(row.contains(" \(code.severity.rawValue) ") && row.hasSuffix("\(code.sentence) \(code.advice)  \(code.source)"))
    }
  }

  @Test func `a form that is unknown ends with 64`() async throws {
    let run = try await AttacheTool().run(["lint", "--format", "xml"])
    #expect(run.exit == .status(64))
    #expect(run.errors.contains("'sarif'"))
  }
}
