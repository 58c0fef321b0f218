public import Attache

/// The result of one run of a scenario.
public struct ScenarioResult: Sendable {
  /// The environment in which a scenario is played.
  public enum Depth: String, Sendable, CaseIterable {
    /// attache's engine in this process, with real libcurl and sockets.
    case real
    /// attache's engine in this process, on a simulated machine.
    case virtual
    /// A command as a separate process.
    case command
    /// `attache work` on a queue.
    case queue
    /// An iOS service extension in a process of its own.
    case serviceExtension = "extension"
  }

  /// The result of one payload.
  public struct OfPayload: Sendable, Hashable {
    /// The line number, from 1.
    public var line: Int
    /// The outcome; nil when there is none.
    public var outcome: Outcome?
    /// The reason of a fallback; nil when there is none.
    public var reason: Reason?
    /// How late the line was; negative is early, and nil means that the line never arrived.
    public var lateness: Duration?

    /// Creates a result of one payload.
    public init(line: Int, outcome: Outcome? = nil, reason: Reason? = nil, lateness: Duration? = nil) {
      self.line = line
      self.outcome = outcome
      self.reason = reason
      self.lateness = lateness
    }
  }

  /// A line of input, and the line of output that answers it; nil if none does.
  package struct Lines: Sendable {
    package var before: [UInt8]
    package var after: [UInt8]?
  }

  /// The maximum size of all lines that a result has, in bytes: a rehearsal has hundreds of results.
  static let maximumBytes = 1_000_000

  /// The scenario that was run.
  public var scenario: Scenario
  /// The environment in which it was played.
  public var depth: Depth
  /// The seed of the interleaving, or of the random kill points.
  public var seed: UInt64
  /// The deviations from the expectation; empty when there are none.
  public var findings: [Finding] = []
  /// What is not wrong enough to fail the scenario; only a service extension has any.
  public var warnings: [Finding] = []
  /// The reason why the scenario was not run; nil when it was run.
  public var skipped: String?
  /// The result of each payload.
  public var payloads: [OfPayload] = []
  /// The lines of the first payloads, before and after: as many as have ``maximumBytes`` together.
  package var lines: [Lines] = []
  /// The files that the lines name and that no folder of scenarios has, by their names in a store.
  package var media: [String: [UInt8]] = [:]
  /// The events in order of time.
  public var timeline: [TimelineEvent] = []
  /// The elapsed time on the real clock.
  public var elapsed = Duration.zero

  /// Creates an empty result.
  public init(_ scenario: Scenario, depth: Depth, seed: UInt64 = 0) {
    self.scenario = scenario
    self.depth = depth
    self.seed = seed
  }

  /// Whether the scenario was run and met its expectation.
  public var passed: Bool {
    findings.isEmpty && skipped == nil
  }
}

extension ScenarioResult {
  /// Sets the result to that of a run; `play` sets the findings. The result is skipped when the
  /// task is cancelled.
  mutating func play(_ play: (inout ScenarioResult) async throws(StageError) -> Void) async {
    let start = MonotonicInstant.now
    do throws(StageError) { try await play(&self) } catch { take(error) }
    if Task.isCancelled { (findings, skipped) = ([], "interrupted") }
    elapsed = start.duration(to: .now)
  }

  /// Sets the result of a run that failed: skipped when this machine cannot play the scenario.
  mutating func take(_ error: StageError) {
    if case .unavailable(let reason) = error { skipped = reason } else { findings = [Finding(.stage, error.description)] }
  }
}
