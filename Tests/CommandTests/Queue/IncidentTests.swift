import Foundation
import Testing

/// The incidents of the manual.
struct IncidentTests {
  @Test func `each incident of the manual is played by a test or a scenario that exists`() throws {
    let root = "\(Sample.fixtures)/.."
    let manual = try String(contentsOfFile: "\(root)/Documentation/operations.md", encoding: .utf8)
    let section = try #require(manual.split(separator: "## Incidents\n").last?.split(separator: "\n## ").first)
    let names = section.matches(of: /\| `([^`|]+)` \|\n/).map { String($0.1) }
    #expect(names.count == 12)
    let files = FileManager.default.enumerator(atPath: "\(root)/Tests")?.compactMap { $0 as? String }.filter { $0.hasSuffix("Tests.swift") }
    let sources = try #require(files).map { try String(contentsOfFile: "\(root)/Tests/\($0)", encoding: .utf8) }
    for name in names {
      let isScenario = FileManager.default.fileExists(atPath: "\(root)/Fixtures/scenarios/\(name).yaml")
      #expect(isScenario || sources.contains { $0.contains("func `\(name)`(") }, "\(name)")
    }
  }
}
