import Attache
import Foundation
import Testing

/// `attache dialects`: the table, its rows, and the user's own.
@Suite(.timeLimit(.minutes(1)))
struct DialectsCommandTests {
  private static let own = #"[{"name": "acme", "vendor": "Acme", "media": [{"url": "acme.picture"}]}]"#

  @Test func `the list has every dialect in the table's order, a line each`() async throws {
    let run = try await AttacheTool().run(["dialects"])
    #expect(run.exit == .status(0))
    let rows = run.text.split(separator: "\n")
    #expect(rows.map { String($0.prefix { $0 != " " }) } == DialectTable.knownNames)
    #expect(rows.count >= 48)
    #expect(rows.contains { $0.hasPrefix("firebase ") && $0.hasSuffix("Firebase Cloud Messaging (also fcm)") })
  }

  @Test func `each row is shown with a payload that it understands`() async throws {
    let tool = try AttacheTool()
    for name in ["wonderpush", "fcm", "mastodon"] {
      let run = try await tool.run(["dialects", name])
      #expect(run.exit == .status(0))
      #expect(run.text.contains("  vendor  ") && run.text.contains("  source  "), "\(name)")
      let payload = try #require(run.text.split(separator: "\n").first { $0.hasPrefix(#"{"aps""#) || $0.hasPrefix(#"{""#) })
      let inspected = try await tool.run(["inspect", "--json"], input: String(payload)).text
      #expect(inspected.contains(#""dialect":"\#(name == "fcm" ? "firebase" : name)""#), "\(inspected)")
    }
  }

  @Test func `a row that is shown can be copied into a file`() async throws {
    let tool = try AttacheTool()
    let text = try await tool.run(["dialects", "klaviyo"]).text
    let row = try #require(text.range(of: "\n{\n").map { String(text[$0.lowerBound...]) })
    try "[\(row.replacingOccurrences(of: "\"klaviyo\"", with: "\"mine\""))]".write(
      toFile: tool.home["mine.json"], atomically: true, encoding: .utf8)
    let run = try await tool.run(["dialects", "--dialects", tool.home["mine.json"]])
    #expect(run.exit == .status(0))
    #expect(run.text.hasPrefix("mine "))
  }

  @Test func `a name that nobody has ends with 64 and says which is near`() async throws {
    let run = try await AttacheTool().run(["dialects", "wonderpsh"])
    #expect(run.exit == .status(64))
    #expect(run.output == [])
    #expect(run.errors.contains("wonderpush"))
  }

  @Test func `--json is one object a dialect, and for one its row too`() async throws {
    let tool = try AttacheTool()
    let rows = try await tool.run(["dialects", "--json"]).text.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(rows.map { $0["name"] as? String } == DialectTable.knownNames)
    let one = try #require(
      try JSONSerialization.jsonObject(with: Data(try await tool.run(["dialects", "fcm", "--json"]).output)) as? [String: Any])
    #expect(((one["row"] as? [String: Any])?["sample"] as? [String: Any])?["payload"] != nil)
  }

  @Test func `--dialects adds the user's, which inspect then understands`() async throws {
    let tool = try AttacheTool()
    try Self.own.write(toFile: tool.home["own.json"], atomically: true, encoding: .utf8)
    let flags = ["--dialects", tool.home["own.json"]]
    #expect(try await tool.run(["dialects"] + flags).text.hasPrefix("acme "))
    #expect(try await tool.run(["dialects", "acme"] + flags).text.contains("vendor  Acme"))
    let line = #"{"aps":{"alert":"Hi","mutable-content":1},"acme":{"picture":"https://cdn.example/a.jpg"}}"#
    #expect(try await tool.run(["inspect"] + flags, input: line).text.contains("as in Acme (acme):"))
  }

  @Test func `a wrong file of dialects ends with 64 and names file, line and field`() async throws {
    let tool = try AttacheTool()
    try "[\n{\"name\": \"acme\", \"media\": [{\"url\": 7}]}]".write(toFile: tool.home["own.json"], atomically: true, encoding: .utf8)
    let run = try await tool.run(["dialects", "--dialects", tool.home["own.json"]])
    #expect(run.exit == .status(64))
    #expect(run.errors.contains("own.json:2: dialects[0].media[0].url: "))
  }
}
