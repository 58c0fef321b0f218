internal import Attache

/// Plays scenarios with attache's own engine in this process and reports deviations from the
/// expectation.
///
///     let scenario = try Scenario(contentsOfFile: "Scenarios/origin-stalls.yaml")
///     let result = await ScenarioRunner(clock: .virtual).run(scenario)
///     #expect(result.findings.isEmpty)
public struct ScenarioRunner: Sendable {
  /// The clock on which a scenario is played.
  public enum Clock: String, Sendable, CaseIterable {
    /// The machine's clock, with real libcurl, sockets, DNS and TLS on loopback.
    case real
    /// A simulated machine's clock, on which a deadline of 30 s takes no time.
    case virtual
    /// Both, one after the other; their decisions must agree.
    case both
  }

  private static let isRealAlone = "the simulated network does not model what happens in it: it runs only on the real clock"
  private static let hasNoFetchers =
    "only a command has fetchers: play it with --command 'attache $REHEARSAL_FLAGS' --expect all"

  typealias Play = @Sendable (Scenario, UInt64) async -> Result<Evidence, StageError>

  private let clock: Clock
  private let timeScale: Double
  private let seed: UInt64
  private let parallel: Int?
  private let real: Play
  private let virtual: Play

  /// - Parameters:
  ///   - clock: the clock on which the scenarios are played.
  ///   - timeScale: the factor for all times of a scenario.
  ///   - seed: the seed of the interleaving on the virtual clock.
  ///   - parallel: the number of scenarios played in parallel; nil is twice the number of
  ///     processors.
  public init(clock: Clock = .real, timeScale: Double = 1, seed: UInt64 = 0, parallel: Int? = nil) {
    self.init(
      clock: clock, timeScale: timeScale, seed: seed, parallel: parallel, real: { scenario, _ in await InProcessRun.play(scenario) },
      virtual: { scenario, seed in await VirtualRun.play(scenario, seed: seed) })
  }

  /// Creates a runner that plays with other functions.
  init(clock: Clock, timeScale: Double = 1, seed: UInt64 = 0, parallel: Int? = nil, real: @escaping Play, virtual: @escaping Play) {
    self.clock = clock
    self.timeScale = timeScale
    self.seed = seed
    self.parallel = parallel
    self.real = real
    self.virtual = virtual
  }

  /// Plays one scenario. If the task is cancelled during the run, the result is skipped.
  public func run(_ scenario: Scenario) async -> ScenarioResult {
    var result = await played(scenario)
    if Task.isCancelled { (result.findings, result.skipped) = ([], "interrupted") }
    return result
  }

  private func played(_ scenario: Scenario) async -> ScenarioResult {
    let scaled = timeScale == 1 ? scenario : scenario.scaled(by: timeScale)
    let missing = scenario.faultsFetchers ? Self.hasNoFetchers : clock == .virtual && scenario.playsInRealTime ? Self.isRealAlone : nil
    if let missing { return result(of: .failure(.unavailable(missing)), scaled, clock == .virtual ? .virtual : .real) }
    func played(_ play: Play) async -> Result<RunAnalysis, StageError> {
      await play(scaled, seed).map { RunAnalysis($0, of: scaled) }
    }
    switch clock {
    case .virtual: return result(of: await played(virtual), scaled, .virtual)
    case .both where !scenario.playsInRealTime: return both(scaled, await played(real), await played(virtual))
    case .real, .both: return result(of: await played(real), scaled, .real)
    }
  }

  /// Plays scenarios in parallel. Those that measure memory or descriptors are played alone at the
  /// end.
  ///
  /// - Parameters:
  ///   - scenarios: the scenarios to play.
  ///   - report: called with each result as it arrives.
  ///   - began: called with each scenario as it begins.
  /// - Returns: the results in the order of the scenarios, without those that were not played
  ///   because the task was cancelled.
  public func run(
    _ scenarios: [Scenario], report: (ScenarioResult) -> Void = { _ in }, began: @escaping @Sendable (Scenario) -> Void = { _ in }
  ) async -> [ScenarioResult] {
    await ScenarioSuite(parallel: parallel).run(scenarios, began, report) { scenario in await run(scenario) }
  }
}

extension ScenarioRunner {
  private func result(
    of played: Result<RunAnalysis, StageError>, _ scenario: Scenario, _ depth: ScenarioResult.Depth
  ) -> ScenarioResult {
    var result = ScenarioResult(scenario, depth: depth, seed: seed)
    switch played {
    case .success(let run):
      result.findings = EngineCheck.findings(run, of: depth == .virtual ? scenario.unmeasured : scenario)
      (result.payloads, result.lines) = (run.results, run.lines)
      result.timeline = run.timeline(deadline: scenario.deadline)
      result.elapsed = run.evidence.elapsed
    case .failure(let error): result.take(error)
    }
    return result
  }

  /// Returns the result on the real clock, with the findings that only the virtual clock shows and
  /// the disagreements between both.
  private func both(
    _ scenario: Scenario, _ real: Result<RunAnalysis, StageError>, _ virtual: Result<RunAnalysis, StageError>
  ) -> ScenarioResult {
    var result = result(of: real, scenario, .real)
    let other = self.result(of: virtual, scenario, .virtual)
    result.skipped = result.skipped ?? other.skipped
    for var finding in other.findings where !result.findings.contains(finding) {
      finding.message = "on the virtual clock: \(finding.message)"
      result.findings.append(finding)
    }
    if case .success(let real) = real, case .success(let virtual) = virtual {
      result.findings += AgreementCheck.findings(real: real, virtual: virtual)
    }
    return result
  }
}

extension Scenario {
  /// The scenario without expectations that only a real machine can check.
  fileprivate var unmeasured: Scenario {
    var scenario = self
    (scenario.expectation.memory, scenario.expectation.descriptors) = (nil, nil)
    return scenario
  }

  /// Whether the simulated machine cannot play the scenario.
  fileprivate var playsInRealTime: Bool { isReal || network != .loopback }
}
