internal import Attache
internal import AttacheTesting
internal import Foundation

/// An earlier rehearsal to compare with.
struct Baseline: Sendable {
  private struct Key: Hashable {
    var name: String
    var depth: String
  }

  let path: String
  private let tolerance: Duration
  private let scenarios: [Key: [RehearsalRecord.Scenario]]

  /// Reads an earlier rehearsal.
  ///
  /// - Parameter clock: how the scenarios are played now; the baseline must have the same clock.
  /// - Throws: ``BaselineError`` when the file is not a report of `--json`, or has another version
  ///   or clock.
  init(contentsOfFile path: String, tolerance: Duration, clock: String) throws(BaselineError) {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let record: RehearsalRecord
    guard let data = FileManager.default.contents(atPath: path) else { throw BaselineError(unreadable: path) }
    do {
      record = try decoder.decode(RehearsalRecord.self, from: data)
    } catch {
      throw BaselineError(path: path, error)
    }
    guard record.version == RehearsalRecord.currentVersion else { throw BaselineError(path: path, version: record.version) }
    guard record.clock == clock else { throw BaselineError(path: path, theirs: record.clock, ours: clock) }
    self.path = path
    self.tolerance = tolerance
    // A scenario that was skipped gives nothing to compare with.
    scenarios = Dictionary(grouping: record.scenarios.filter { $0.skipped == nil }) { Key(name: $0.name, depth: $0.depth) }
  }

  /// Returns the differences between a result and the baseline.
  func findings(_ result: ScenarioResult) -> [Finding] {
    let key = Key(name: result.scenario.name, depth: result.depth.rawValue)
    guard let old = scenarios[key], result.skipped == nil else { return [] }
    let sameSeed = old.first { $0.seed == result.seed } ?? old[0]
    return changes(from: sameSeed.payloads, to: result.payloads) + growth(from: old.flatMap(\.payloads), to: result.payloads)
  }

  private func changes(from old: [RehearsalRecord.Payload], to new: [ScenarioResult.OfPayload]) -> [Finding] {
    let before = Dictionary(old.map { ($0.line, $0) }) { first, _ in first }
    return new.compactMap { payload in
      guard let was = before[payload.line] else { return nil }
      let (then, now) = (Self.words(was.outcome, was.reason), Self.words(payload.outcome?.rawValue, payload.reason?.rawValue))
      return then == now ? nil : Finding(.baseline, payload: payload.line, "was \(then) in \(path), and is now \(now)")
    }
  }

  private static func words(_ outcome: String?, _ reason: String?) -> String {
    (outcome ?? "without outcome") + (reason.map { " (\($0))" } ?? "")
  }

  private func growth(from old: [RehearsalRecord.Payload], to new: [ScenarioResult.OfPayload]) -> [Finding] {
    guard let was = old.compactMap(\.latenessMs).max(), let worst = new.compactMap(\.lateness).max() else { return [] }
    let before = Duration.microseconds(Int64((min(max(was, -1e12), 1e12) * 1000).rounded()))
    guard worst > before + tolerance else { return [] }
    return [
      Finding(
        .baseline, payload: new.first { $0.lateness == worst }?.line,
        "the worst lateness was \(before.readable) in \(path), and is now \(worst.readable): it grew by more than \(tolerance.readable)")
    ]
  }

  /// Returns a failed result for each scenario of the baseline that is not in `present`, sorted by
  /// name.
  func gone(from present: [Scenario], depth: ScenarioResult.Depth) -> [ScenarioResult] {
    let names = Set(scenarios.keys.map(\.name)).subtracting(present.map(\.name))
    return names.sorted().map { name in
      var result = ScenarioResult(Scenario(name: name, file: path, payloads: []), depth: depth)
      result.findings = [Finding(.baseline, "it is in \(path), but was not rehearsed now")]
      return result
    }
  }
}

/// A baseline that cannot be used.
struct BaselineError: Error, CustomStringConvertible {
  let description: String

  init(path: String, _ error: any Error) {
    let problem =
      switch error {
      case DecodingError.keyNotFound(let key, let context): "\(Self.field(context.codingPath + [key])): the field is missing"
      case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
        "\(Self.field(context.codingPath)): \(context.debugDescription)"
      case DecodingError.dataCorrupted(let context): "\(Self.field(context.codingPath)): \(context.debugDescription)"
      default: error.localizedDescription
      }
    description = "\(path): \(problem); a baseline is a file that --json wrote"
  }

  init(unreadable path: String) {
    description = "\(path): the file cannot be read; a baseline is a file that --json wrote"
  }

  init(path: String, version: Int) {
    description = "\(path): version: \(version) is not \(RehearsalRecord.currentVersion), which this attache writes; make a new baseline"
  }

  init(path: String, theirs: String, ours: String) {
    description = "\(path): clock: it was rehearsed with “\(theirs)”, and this rehearsal with “\(ours)”; use the same clock"
  }

  private static func field(_ path: [any CodingKey]) -> String {
    path.isEmpty ? "the file" : path.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
  }
}
