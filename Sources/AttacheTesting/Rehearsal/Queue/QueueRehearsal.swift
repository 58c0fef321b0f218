internal import Attache

/// Rehearses `attache work`: enqueues the payloads of a scenario, works them, and reads their
/// results.
///
///     let result = await QueueRehearsal(.sqlite).run(try Scenario(contentsOfFile: "scenarios/origin-stalls.yaml"))
///     #expect(result.findings.isEmpty)
///
/// It makes the same checks as for attache's engine: the promise to the byte, lateness according to
/// the records, and the scenario's expectations. `attache` is found through the PATH of
/// ``environment``.
public struct QueueRehearsal: Sendable {
  /// The kinds of queues. The raw value is the prefix in a queue's name.
  public enum Kind: String, Sendable, CaseIterable {
    /// A queue in an SQLite database.
    case sqlite
  }

  /// Where the queues of a rehearsal are. Each scenario has one of its own.
  public enum Place: Hashable, Sendable {
    /// Beside the scenario's other files.
    case folder(Kind)
    /// On a server of this machine, by its URI, such as `postgresql:///push?host=/run/postgresql`.
    /// The queues have names of their own, and are dropped at the end.
    case server(uri: String)

    /// The prefix in a queue's name.
    public var kind: String {
      switch self {
      case .folder(let kind): kind.rawValue
      case .server(let uri): String(uri.prefix { $0 != ":" })
      }
    }
  }

  /// Where the queues are.
  public var place: Place
  /// The worker command for `/bin/sh -c`.
  public var worker = QueueRehearsal.attache
  /// How long the worker can continue after its last deadline before it counts as hung; nil is
  /// twice the deadline plus ten seconds.
  public var hangAfter: Duration?
  /// The number of random times at which the worker is killed and restarted. If it is above zero,
  /// the check is that every payload has one complete result; times are not checked.
  public var randomKills = 0
  /// The seed of the random kill times.
  public var seed: UInt64 = 1
  /// The factor for all times of a scenario.
  public var timeScale = 1.0
  /// Additional environment variables of the commands, besides this process's and the scenario's.
  public var environment: [String: String] = [:]

  /// The default worker command. `--poison-after` is very large, because a kill from outside is not
  /// the payload's fault.
  public static let attache = "attache work --queue \"$REHEARSAL_QUEUE\" --once --attempts 1 --poison-after 1000000 $REHEARSAL_FLAGS"

  /// Creates a rehearsal with a kind of queue.
  public init(_ kind: Kind) {
    place = .folder(kind)
  }

  /// Creates a rehearsal with queues at a place.
  public init(at place: Place) {
    self.place = place
  }

  /// Plays a scenario. The result is skipped when a worker cannot play the scenario or when the
  /// task is cancelled.
  public func run(_ scenario: Scenario) async -> ScenarioResult {
    var result = ScenarioResult(scenario, depth: .queue, seed: seed)
    await result.play { result throws(StageError) in
      if let reason = reasonToSkip(scenario) { throw .unavailable(reason) }
      if randomKills > 0 { try await killed(&result) } else { try await undisturbed(&result) }
    }
    return result
  }

  /// Plays scenarios in parallel. Those that measure memory or descriptors are played alone at the
  /// end.
  ///
  /// - Parameters:
  ///   - scenarios: the scenarios to play.
  ///   - parallel: the number of scenarios at a time; nil is two for each core.
  ///   - report: called with each result as it arrives.
  ///   - began: called with each scenario as it begins.
  /// - Returns: the results in the order of the scenarios.
  public func run(
    _ scenarios: [Scenario], parallel: Int? = nil, report: (ScenarioResult) -> Void = { _ in },
    began: @escaping @Sendable (Scenario) -> Void = { _ in }
  ) async -> [ScenarioResult] {
    await ScenarioSuite(parallel: parallel).run(scenarios, began, report) { scenario in await run(scenario) }
  }

  /// Returns the reason why a worker cannot play the scenario; nil when it can.
  private func reasonToSkip(_ scenario: Scenario) -> String? {
    if scenario.serviceExtension != .media { return "the extension of this scenario runs only in attache's own process" }
    if scenario.stop != nil { return "a worker does not stop as a filter does" }
    if let flag = scenario.flags.first(where: { EngineFlag.named($0)?.commands.contains(.worker) == false }) {
      return "\(flag) is a flag of the filter only"
    }
    if case .server = place, worker == Self.attache, !scenario.uploads {
      return "a worker of a queue on a server uploads what it attaches, and this scenario has no --upload"
    }
    if case .server(let uri) = place, scenario.network != .loopback, !QueueStage.isSocket(uri) {
      return "a worker in the scenario's own network reaches a server only through a socket in a folder (host=/FOLDER)"
    }
    if scenario.disk != nil { return "a worker waits until its disk has space, which this disk never gets" }
    if scenario.expectation.payloads.contains(where: { $0.reason == .policyBreaker }) {
      return "a worker's payloads wait until their origin is asked again"
    }
    return nil
  }

  private func undisturbed(_ result: inout ScenarioResult) async throws(StageError) {
    let scenario = result.scenario.scaled(by: timeScale)
    let (run, _) = try await worked(scenario)
    result.findings = EngineCheck.findings(run, of: scenario)
    (result.payloads, result.lines, result.timeline) = (run.results, run.lines, run.evidence.timeline)
  }

  /// Enqueues the payloads, works them once, and reads their results.
  ///
  /// - Returns: the run, and the time that the worker took.
  func worked(_ scenario: Scenario) async throws(StageError) -> (RunAnalysis, Duration) {
    try await ScenarioStage.with(scenario) { stage throws(StageError) in
      try await QueueStage.with(stage, self) { queue throws(StageError) in
        try await queue.enqueue()
        let work = try await queue.work()
        return (RunAnalysis(try await queue.evidence(work), of: scenario), work.start.duration(to: work.end))
      }
    }
  }
}
