internal import Attache

/// Rehearses `attache work`: the payloads of a scenario are enqueued, worked, and their results
/// read.
///
///     let result = await QueueRehearsal(.sqlite).run(try Scenario(contentsOfFile: "scenarios/origin-stalls.yaml"))
///     #expect(result.findings.isEmpty)
///
/// Everything that is asked of attache's engine is asked here: the promise to the byte, lateness by
/// the records, and what the scenario expects. `attache` is found by the PATH of ``environment``.
public struct QueueRehearsal: Sendable {
  /// The kinds of queues; the raw value is how a queue of the kind is written.
  public enum Kind: String, Sendable, CaseIterable {
    case sqlite
    case folder = "dir"
  }

  public var kind: Kind
  /// What works the queue, for `/bin/sh -c`.
  public var worker = QueueRehearsal.attache
  /// How long after its last deadline it may go on; nil is twice the deadline and ten seconds.
  public var hangAfter: Duration?
  /// At how many random moments it is killed, and started again; then that every payload has one
  /// whole result is checked, and nothing about time.
  public var randomKills = 0
  public var seed: UInt64 = 1
  /// Every time of a scenario is multiplied by this.
  public var timeScale = 1.0
  /// Variables of the commands' environment beside this process's and the scenario's.
  public var environment: [String: String] = [:]

  /// A kill from outside says nothing against a payload.
  public static let attache = "attache work --queue \"$REHEARSAL_QUEUE\" --once --attempts 1 --poison-after 1000000 $REHEARSAL_FLAGS"

  public init(_ kind: Kind) {
    self.kind = kind
  }

  /// Plays a scenario.
  public func run(_ scenario: Scenario) async -> ScenarioResult {
    var result = ScenarioResult(scenario, depth: .queue, seed: seed)
    let start = MonotonicInstant.now
    do throws(StageError) {
      if let reason = reasonToSkip(scenario) { throw .unavailable(reason) }
      if randomKills > 0 { try await killed(&result) } else { try await undisturbed(&result) }
    } catch {
      switch error {
      case .unavailable(let reason): result.skipped = reason
      case .system, .origin, .dns, .flags, .beyondLoopback, .queue: result.findings = [Finding(.stage, error.description)]
      }
    }
    if Task.isCancelled { (result.findings, result.skipped) = ([], "interrupted") }
    result.elapsed = start.duration(to: .now)
    return result
  }

  /// Plays scenarios side by side.
  ///
  /// - Parameters:
  ///   - scenarios: what is played.
  ///   - parallel: how many at a time; nil is two for each core.
  ///   - report: told of each result as it comes.
  ///   - began: told of each scenario as it begins.
  /// - Returns: the results in the order of the scenarios.
  public func run(
    _ scenarios: [Scenario], parallel: Int? = nil, report: (ScenarioResult) -> Void = { _ in },
    began: @escaping @Sendable (Scenario) -> Void = { _ in }
  ) async -> [ScenarioResult] {
    await ScenarioSuite(parallel: parallel).run(scenarios, began, report) { scenario in await run(scenario) }
  }

  /// What a worker cannot be asked for.
  private func reasonToSkip(_ scenario: Scenario) -> String? {
    if scenario.serviceExtension != .media { return "the extension of this scenario plays in attache's own process only" }
    if scenario.stop != nil { return "how a filter stops is not how a worker does" }
    if let flag = scenario.flags.first(where: Self.flagsOfTheFilter.contains) { return "\(flag) is a flag of the filter alone" }
    if scenario.disk != nil { return "a worker waits until its disk has room, which this one never gets" }
    return nil
  }

  private static let flagsOfTheFilter: Set = ["--window", "--unordered", "--strict"]

  private func undisturbed(_ result: inout ScenarioResult) async throws(StageError) {
    let evidence = try await CommandStage.with(result.scenario.scaled(by: timeScale)) { stage throws(StageError) in
      let queue = try QueueStage(stage, self)
      try await queue.enqueue()
      let work = try await queue.work()
      return try await queue.evidence(work)
    }
    result.findings = EngineCheck.findings(evidence, of: result.scenario.scaled(by: timeScale))
    result.take(evidence)
  }
}

extension ScenarioResult {
  /// What became of the payloads, and when.
  mutating func take(_ evidence: Evidence) {
    payloads = PayloadAccount.all(in: evidence).map {
      .init(line: $0.line, outcome: $0.outcome, reason: $0.reason, lateness: $0.lateness)
    }
    timeline = evidence.timeline
  }
}
