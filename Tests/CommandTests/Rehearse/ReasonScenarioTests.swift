import Attache
import AttacheTesting
import Foundation
import Testing

/// The scenario that `attache reasons` names for each reason.
@Suite(.timeLimit(.minutes(1)))
struct ReasonScenarioTests {
  private static let folder = Sample.fixtures + "/scenarios"

  /// The third column of `attache reasons`, by reason.
  private func columns() async throws -> [Reason: String] {
    let text = try await AttacheTool().run(["reasons"]).text
    var columns: [Reason: String] = [:]
    for row in text.split(separator: "\n") {
      let code = row.prefix { $0 != " " }
      let reason = try #require(Reason(rawValue: String(code)), "\(row)")
      let rest = row.dropFirst(code.count).trimmingPrefix { $0 == " " }
      try #require(rest.hasPrefix(reason.advice + "  "), "\(row)")
      columns[reason] = String(rest.dropFirst(reason.advice.count + 2))
    }
    return columns
  }

  @Test func `each reason has a scenario that expects it, or a line that says why there is none`() async throws {
    let columns = try await columns()
    #expect(Set(columns.keys) == Set(Reason.allCases))
    for (reason, column) in columns where !column.hasPrefix("(no scenario: ") {
      let scenario = try Scenario(contentsOfFile: "\(Self.folder)/\(column)")
      #expect(scenario.expectedReasons.contains(reason), "\(column) does not expect \(reason.rawValue)")
    }
  }

  @Test func `a reason without a scenario is expected by none`() async throws {
    let without = try await columns().filter { $0.value.hasPrefix("(no scenario: ") }.keys
    let expected = try Self.suite().reduce(into: Set<Reason>()) { $0.formUnion($1.expectedReasons) }
    #expect(expected.intersection(without).isEmpty)
    #expect(expected.union(without) == Set(Reason.allCases))
  }

  @Test func `the schema names each reason, except those of payloads that wait in a queue`() throws {
    struct Names: Decodable { var `enum`: Set<String> }
    let data = try Data(contentsOf: URL(filePath: "\(Self.folder)/scenario.schema.json"))
    let schema = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    let definitions = try #require(schema["$defs"] as? [String: Any])
    let reason = try JSONSerialization.data(withJSONObject: try #require(definitions["reason"]))
    let names = try JSONDecoder().decode(Names.self, from: reason).enum
    #expect(names == Set(Reason.allCases.map(\.rawValue)).subtracting(["queue.expired", "queue.poison", "queue.cancelled"]))
  }

  @Test func `the suite has sixty scenarios, each one screen long, with a sentence about it`() throws {
    let suite = try Self.suite()
    #expect(suite.count >= 60)
    for scenario in suite {
      #expect(scenario.about.hasSuffix("."), "\(scenario.file)")
      let text = try String(contentsOfFile: scenario.file, encoding: .utf8)
      #expect(text.split(separator: "\n").count <= 30, "\(scenario.file)")
      #expect(text.hasPrefix("# yaml-language-server: $schema=scenario.schema.json\n"), "\(scenario.file)")
    }
  }

  @Test func `the suite's page has a row for each scenario, with the sentence about it`() throws {
    let page = try String(contentsOfFile: "\(Self.folder)/README.md", encoding: .utf8)
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| [`") }
    let suite = try Self.suite()
    #expect(rows.count == suite.count)
    for scenario in suite {
      let start = "| [`\(scenario.name)`](\(scenario.name).yaml) | \(scenario.about) |"
      #expect(rows.contains { $0.hasPrefix(start) }, "\(scenario.name)")
    }
  }

  private static func suite() throws -> [Scenario] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".yaml") }.sorted()
    return try names.map { try Scenario(contentsOfFile: "\(folder)/\($0)") }
  }
}

extension Scenario {
  /// Every reason that the scenario expects for a payload or for one of its references.
  fileprivate var expectedReasons: Set<Reason> {
    let payloads = expectation.payloads
    return Set(payloads.compactMap(\.reason) + payloads.flatMap { ($0.media ?? []).compactMap { $0 } })
  }
}
