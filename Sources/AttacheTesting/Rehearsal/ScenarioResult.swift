public import Attache

/// What came of one run of a scenario.
public struct ScenarioResult: Sendable {
  /// How deep the scenario was played.
  public enum Depth: String, Sendable, CaseIterable {
    /// attache's engine in this process, with real libcurl and sockets.
    case real
    /// attache's engine in this process, on a simulated machine.
    case virtual
    /// A command.
    case command
    /// `attache work` on a queue.
    case queue
  }

  /// What became of one payload.
  public struct OfPayload: Sendable, Hashable {
    /// From 1.
    public var line: Int
    public var outcome: Outcome?
    public var reason: Reason?
    /// Negative is early; nil when the line never came.
    public var lateness: Duration?

    public init(line: Int, outcome: Outcome? = nil, reason: Reason? = nil, lateness: Duration? = nil) {
      self.line = line
      self.outcome = outcome
      self.reason = reason
      self.lateness = lateness
    }
  }

  /// A moment of the time line.
  public struct Event: Sendable, Hashable {
    public enum Actor: String, Sendable {
      case payload, dns, origin, disk, filter, decision
    }

    /// Since the payloads were written.
    public var at: Duration
    public var actor: Actor
    public var text: String

    public init(at: Duration, _ actor: Actor, _ text: String) {
      self.at = at
      self.actor = actor
      self.text = text
    }
  }

  public var scenario: Scenario
  public var depth: Depth
  /// The seed of the interleaving, or of the random kill points.
  public var seed: UInt64
  /// Empty when all went as it must.
  public var findings: [Finding] = []
  /// Why it was not run.
  public var skipped: String?
  public var payloads: [OfPayload] = []
  /// In order of time.
  public var timeline: [Event] = []
  /// How long it took on the wall's clock.
  public var elapsed = Duration.zero

  public init(_ scenario: Scenario, depth: Depth, seed: UInt64 = 0) {
    self.scenario = scenario
    self.depth = depth
    self.seed = seed
  }

  public var passed: Bool {
    findings.isEmpty && skipped == nil
  }
}
