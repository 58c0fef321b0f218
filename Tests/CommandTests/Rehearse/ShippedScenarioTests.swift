import AttacheTesting
import Foundation
import Testing

/// The suite of Fixtures/scenarios: attache's end-to-end tests.
@Suite(.timeLimit(.minutes(5)))
struct ShippedScenarioTests {
  @Test func `every scenario passes in the process, and both clocks agree`() async throws {
    let results = try await ShippedScenarios.played.value
    #expect(results.count >= 60)
    for result in results {
      for finding in result.findings { Issue.record("\(result.scenario.name): \(finding)") }
    }
  }

  @Test func `every scenario passes in any interleaving that is tried`() async throws {
    let scenarios = try ShippedScenarios.all()
    for seed in 2...3 as ClosedRange<UInt64> {
      for result in await ScenarioRunner(clock: .virtual, seed: seed).run(scenarios) {
        for finding in result.findings { Issue.record("\(result.scenario.name), seed \(seed): \(finding)") }
      }
    }
  }

  @Test func `every scenario passes through the built tool`() async throws {
    let tool = try AttacheTool()
    let command = AttacheTool.folder + "/attache $REHEARSAL_FLAGS"
    let run = try await tool.run(["rehearse", "--command", command, "--expect", "all", ShippedScenarios.folder])
    #expect(run.exit == .status(0), "\(run.text.split(separator: "\n").filter { !$0.hasPrefix("ok") }.joined(separator: "\n"))")
  }

  /// In parts, each with its own time limit: three commands start for each scenario.
  @Test(arguments: 0..<5)
  func `every scenario passes through the built queue worker`(part: Int) async throws {
    let all = try ShippedScenarios.all()
    let scenarios = all.indices.filter { $0 % 5 == part }.map { all[$0] }
    let results = await ShippedScenarios.queue(.sqlite).run(scenarios)
    #expect(results.count == scenarios.count)
    for result in results {
      for finding in result.findings { Issue.record("\(result.scenario.name): \(finding)") }
    }
    let skipped = results.filter { $0.skipped?.contains(/filter|worker/) == true }.map(\.scenario.name)
    #expect(Set(skipped) == Set(scenarios.map(\.name)).intersection(Self.ofTheFilterAlone))
  }

  /// Scenarios that do not apply to workers.
  private static let ofTheFilterAlone = [
    "a-full-window-stops-the-reader", "disk-is-full", "disk-turns-read-only", "filter-is-told-to-stop", "filter-is-told-to-stop-at-once",
    "origin-is-down-for-a-backlog", "origin-is-left-alone-until-it-is-back", "strict-filter-says-that-a-line-was-invalid",
    "unordered-lines-pass-a-stalled-one",
  ]

  @Test func `cat keeps the promise in every scenario, and has none of their attachments`() async throws {
    let tool = try AttacheTool()
    let folder = ShippedScenarios.folder
    #expect(try await tool.run(["rehearse", "--command", "cat", folder]).exit == .status(0))
    let run = try await tool.run(["rehearse", "--command", "cat", "--expect", "all", "--only", "origin-serves-a-photo", folder])
    #expect(run.exit == .status(99))
    #expect(run.text.contains("outcome, payload 1"))
  }
}
