import Attache
import AttacheTesting
import Foundation
import Testing

/// The files of Fixtures/vectors: each vector occurs once, expects a word of the table, and is
/// tested in one way.
@Suite struct VectorFileTests {
  private static let scenarios = Sample.fixtures + "/scenarios"

  @Test func `there are 456 vectors, each with an id of its own`() throws {
    let vectors = try Vector.all()
    #expect(vectors.count == 456)
    let repeated = Dictionary(grouping: vectors, by: \.id).filter { $0.value.count > 1 }.keys.sorted()
    #expect(repeated.isEmpty)
  }

  @Test func `each expectation is a word of the table`() throws {
    let table = try VectorTable.read()
    let unknown = try Vector.all().filter { table[$0.expect] == nil }.map { "\($0.id): \($0.expect)" }
    #expect(unknown.isEmpty, "not in expectations.json")
  }

  @Test func `each vector is shown in one way`() throws {
    let vectors = try Vector.all()
    let several = vectors.filter { $0.way == .several }.map(\.id)
    #expect(several.isEmpty, "tested by a scenario and by something else")
    let none = vectors.filter { $0.way == .none }.map(\.id)
    #expect(none.isEmpty, "nothing shows these \(none.count) vectors")
  }

  @Test func `a vector's scenario is there and expects what the table says`() throws {
    let table = try VectorTable.read()
    for vector in try Vector.all() {
      guard case .scenarios(let names) = vector.way, let answer = table[vector.expect] else { continue }
      for name in names {
        guard FileManager.default.fileExists(atPath: "\(Self.scenarios)/\(name).yaml") else {
          Issue.record("\(vector.id): there is no scenario \(name)")
          continue
        }
        let scenario = try Scenario(contentsOfFile: "\(Self.scenarios)/\(name).yaml")
        #expect(scenario.expects(answer), "\(vector.id): \(name) does not expect \(answer)")
      }
    }
  }

  @Test func `a vector's test is there`() throws {
    let sentences = try Self.sentences()
    for vector in try Vector.all() {
      guard case .test(let sentence) = vector.way else { continue }
      #expect(sentences.contains(sentence), "\(vector.id): no test is called “\(sentence)”")
    }
  }

  /// The name of every test function in Tests.
  private static func sentences() throws -> Set<String> {
    let folder = Sample.fixtures + "/../Tests"
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix("Tests.swift") }
    return try files.reduce(into: []) { sentences, file in
      let source = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
      for line in source.split(separator: "\n") {
        guard let start = line.firstRange(of: "func `") else { continue }
        sentences.insert(String(line[start.upperBound...].prefix { $0 != "`" }))
      }
    }
  }
}

extension Scenario {
  /// Whether the scenario expects this answer for one of its payloads, or for one of its media
  /// references.
  fileprivate func expects(_ answer: VectorTable.Answer) -> Bool {
    expectation.payloads.contains { payload in
      if payload.outcome == answer.outcome, payload.reason == answer.reason { return true }
      return answer.reason.map { reason in payload.media?.contains(reason) == true } ?? false
    }
  }
}
