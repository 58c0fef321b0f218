import AttacheTesting
import Foundation
import Testing

/// The vectors that scenarios test, by the results of ``ShippedScenarios`` with the engine in this
/// process. ``ShippedScenarioTests`` plays all scenarios with the built tool.
@Suite(.timeLimit(.minutes(10)))
struct VectorScenarioTests {
  /// A vector and one of its scenarios.
  struct Case: Sendable, CustomTestStringConvertible {
    var id: String
    var scenario: String

    var testDescription: String { "\(id): \(scenario)" }
  }

  private static let cases: [Case] = {
    let vectors = (try? Vector.all()) ?? []
    return vectors.flatMap { vector in
      guard case .scenarios(let names) = vector.way else { return [Case]() }
      return names.map { Case(id: vector.id, scenario: $0) }
    }
  }()

  private static let results = Task {
    Dictionary(try await ShippedScenarios.played.value.map { ($0.scenario.name, $0) }) { first, _ in first }
  }

  @Test(arguments: cases)
  func `a vector's scenario goes as it says`(_ vector: Case) async throws {
    let result = try #require(try await Self.results.value[vector.scenario], "there is no such scenario")
    if let reason = result.skipped { try Test.cancel("\(reason)") }
    #expect(result.findings.isEmpty)
  }
}
