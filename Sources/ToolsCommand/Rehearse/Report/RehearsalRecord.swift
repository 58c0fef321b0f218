internal import Attache
internal import AttacheTesting

/// A rehearsal in the form that `--json` writes and `--baseline` reads.
struct RehearsalRecord: Codable, Sendable {
  struct Finding: Codable, Sendable {
    var kind: String
    var payload: Int?
    var message: String
    /// What to do; only findings about a service extension have it.
    var advice: String?
  }

  struct Payload: Codable, Sendable, Hashable {
    var line: Int
    var outcome: String?
    var reason: String?
    var latenessMs: Double?
  }

  struct Event: Codable, Sendable {
    var atMs: Double
    var actor: String
    var text: String
  }

  struct Scenario: Codable, Sendable {
    var name: String
    var file: String
    var depth: String
    var seed: UInt64
    var passed: Bool
    /// Why it was not run.
    var skipped: String?
    var findings: [Finding]
    /// What does not fail the scenario; only a service extension has any.
    var warnings: [Finding]?
    var payloads: [Payload]
    var elapsedMs: Double
    var timeline: [Event]
  }

  struct Bucket: Codable, Sendable {
    /// nil means no upper bound.
    var upToMs: Double?
    var count: Int
  }

  struct LatenessRecord: Codable, Sendable {
    var p50Ms: Double?
    var p99Ms: Double?
    var maxMs: Double?
    var histogram: [Bucket]
  }

  /// The version of this format.
  static let currentVersion = 1

  var version = currentVersion
  var clock: String
  var seed: UInt64
  var elapsedMs: Double
  /// The limits of the rehearsal.
  var notes: [String] = []
  var scenarios: [Scenario]
  var lateness: LatenessRecord

  init(_ results: [ScenarioResult], clock: String, seed: UInt64, elapsed: Duration) {
    self.clock = clock
    self.seed = seed
    elapsedMs = elapsed.reportedMilliseconds
    scenarios = results.map(Scenario.init)
    lateness = LatenessRecord(Lateness(results))
  }
}

extension RehearsalRecord.Scenario {
  init(_ result: ScenarioResult) {
    self.init(
      name: result.scenario.name, file: result.scenario.file, depth: result.depth.rawValue, seed: result.seed, passed: result.passed,
      skipped: result.skipped,
      findings: result.findings.map(RehearsalRecord.Finding.init),
      warnings: result.warnings.isEmpty ? nil : result.warnings.map(RehearsalRecord.Finding.init),
      payloads: result.payloads.map(RehearsalRecord.Payload.init), elapsedMs: result.elapsed.reportedMilliseconds,
      timeline: result.timeline.map {
        RehearsalRecord.Event(atMs: $0.at.reportedMilliseconds, actor: $0.actor.rawValue, text: $0.text)
      })
  }
}

extension RehearsalRecord.Finding {
  init(_ finding: Finding) {
    self.init(kind: finding.kind.rawValue, payload: finding.payload, message: finding.message, advice: finding.kind.advice)
  }
}

extension RehearsalRecord.Payload {
  init(_ payload: ScenarioResult.OfPayload) {
    self.init(
      line: payload.line, outcome: payload.outcome?.rawValue, reason: payload.reason?.rawValue,
      latenessMs: payload.lateness?.reportedMilliseconds)
  }
}

extension RehearsalRecord.LatenessRecord {
  init(_ lateness: Lateness) {
    self.init(
      p50Ms: lateness.percentile(50)?.reportedMilliseconds, p99Ms: lateness.percentile(99)?.reportedMilliseconds,
      maxMs: lateness.largest?.reportedMilliseconds,
      histogram: lateness.buckets.map { RehearsalRecord.Bucket(upToMs: $0.upTo?.reportedMilliseconds, count: $0.count) })
  }
}
