import Attache
import Synchronization
import Testing

@testable import AttacheTesting

/// Which scenarios a runner plays, on which clock and in which order. The runs are stubs.
@Suite(.timeLimit(.minutes(1)))
struct ScenarioChoiceTests {
  @Test func `results come in the order of the scenarios, those that measure are played alone`() async {
    let running = Mutex((now: 0, most: 0, aloneWith: 0))
    let runner = ScenarioRunner(
      clock: .real, parallel: 3,
      real: { scenario, _ in
        running.withLock { running in
          running.now += 1
          running.most = max(running.most, running.now)
          if scenario.expectation.memory != nil { running.aloneWith += running.now - 1 }
        }
        await Task.yield()
        running.withLock { $0.now -= 1 }
        return .failure(.unavailable(scenario.name))
      }, virtual: { _, _ in .failure(.unavailable("")) })
    let scenarios = (0..<20).map { number in
      PhotoScenario.make {
        $0.name = "\(number)"
        if number % 5 == 0 { $0.expectation.memory = 1 }
      }
    }
    var told = 0
    let results = await runner.run(scenarios) { _ in told += 1 }
    #expect(results.map(\.skipped) == (0..<20).map { "\($0)" } && told == 20)
    #expect(running.withLock { $0.most <= 3 && $0.aloneWith == 0 })
  }

  @Test func `two clocks that decide differently are a finding`() async {
    @Sendable func evidence(_ outcome: Outcome, _ reason: Reason?) -> Evidence {
      var evidence = Evidence(input: [Array("{}".utf8)])
      evidence.output = Array("{}\n".utf8)
      evidence.report = [ReportedLine(line: 1, outcome: outcome, reason: reason)]
      evidence.exitStatus = 0
      return evidence
    }
    let runner = ScenarioRunner(
      clock: .both, real: { _, _ in .success(evidence(.passthrough, nil)) }, virtual: { _, _ in .success(evidence(.fallback, .deadline)) })
    var scenario = PhotoScenario.make()
    scenario.expectation.payloads = [.init(outcome: .passthrough)]
    #expect(
      await runner.run(scenario).findings.map(\.description) == [
        "outcome, payload 1: on the virtual clock: expected passthrough, got fallback (deadline)",
        "disagreement, payload 1: the real clock: passthrough; the virtual clock: fallback (deadline)",
      ])
  }

  @Test func `a scenario of the real clock is not played on the virtual one`() async {
    @Sendable func runner(_ clock: ScenarioRunner.Clock) -> ScenarioRunner {
      ScenarioRunner(
        clock: clock, real: { _, _ in .failure(.unavailable("played")) }, virtual: { _, _ in .failure(.flags("it was played")) })
    }
    let scenario = PhotoScenario.make { $0.isReal = true }
    let both = await runner(.both).run(scenario)
    #expect(both.skipped == "played" && both.findings == [] && both.depth == .real)
    let virtual = await runner(.virtual).run(scenario)
    #expect(virtual.skipped?.contains("runs only on the real clock") == true && virtual.findings == [])
  }

  @Test(arguments: ScenarioRunner.Clock.allCases)
  func `a scenario that ends fetchers is not played in this process`(clock: ScenarioRunner.Clock) async throws {
    let scenario = try Scenario(yaml: "payloads: [x]\norigin: {/a: [fetcher-dies]}\n", file: "s.yaml")
    let runner = ScenarioRunner(clock: clock, real: { _, _ in .failure(.flags("played")) }, virtual: { _, _ in .failure(.flags("played")) })
    let result = await runner.run(scenario)
    #expect(result.skipped?.contains("--command") == true && result.findings == [])
  }
}
