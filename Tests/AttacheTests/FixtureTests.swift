import Foundation
import Testing

@testable import Attache

/// The folder, the table and the page of Fixtures/media agree.
struct FixtureTests {
  @Test func `the table lists exactly the files in the folder`() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: MediaFixture.folder.path(percentEncoded: false))
    #expect(Set(files).subtracting(["README.md", "expected.json"]) == Set(MediaFixture.all.map(\.name)))
    #expect(MediaFixture.all.count > 150)
  }

  @Test func `the page lists exactly the files in the folder, with the same answers`() throws {
    let page = try String(contentsOf: MediaFixture.folder.appending(path: "README.md"), encoding: .utf8)
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
      row.components(separatedBy: " | ").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "| `")) }
    }
    #expect(rows.allSatisfy { $0.count >= 4 })
    let answers = rows.map { [$0[0], $0[2]] }.sorted { $0[0] < $1[0] }
    #expect(answers == MediaFixture.all.map { [$0.name, $0.answer.type ?? $0.answer.reason ?? ""] })
  }

  @Test func `every answer is one that attache knows, and every type has several files`() {
    for fixture in MediaFixture.refused {
      #expect(fixture.answer.reason.flatMap(Reason.init(rawValue:)) != nil, "\(fixture.name)")
    }
    let counts = Dictionary(grouping: MediaFixture.accepted, by: { $0.answer.type ?? "" }).mapValues(\.count)
    #expect(Set(counts.keys) == Set(MediaType.allCases.map(\.rawValue)))
    #expect(counts.values.allSatisfy { $0 >= 3 }, "\(counts)")
  }

  @Test func `a file is a few kilobytes and the folder below 700`() throws {
    let sizes = try MediaFixture.all.map { try $0.bytes.count }
    #expect(sizes.allSatisfy { $0 < 20_000 })
    #expect(sizes.reduce(0, +) < 700_000)
  }
}
