internal import Attache
internal import AttacheTesting

/// The report for people: one line for each scenario as it ends. For a failed scenario it also
/// shows what was expected, what came, and what happened.
struct PeopleReport: RehearsalReport {
  private let terminal: Terminal
  private let isVerbose: Bool
  private var showsSeeds = false
  private var nameWidth = 0
  private var notes: [String] = []
  /// The number of expected results, and of results so far.
  private var (planned, added) = (0, 0)

  /// - Parameter isVerbose: whether passed scenarios also show what happened.
  init(_ terminal: Terminal, isVerbose: Bool) {
    self.terminal = terminal
    self.isVerbose = isVerbose
  }

  mutating func begin(_ plan: RehearsalPlan) {
    showsSeeds = plan.isSeeded
    nameWidth = plan.nameWidth
    notes = plan.notes
    planned = plan.count
  }

  mutating func add(_ result: ScenarioResult) {
    added += 1
    terminal.write(([headline(result)] + details(result)).joined(separator: "\n") + "\n")
  }

  private func headline(_ result: ScenarioResult) -> String {
    let name = result.scenario.name.padded(to: nameWidth)
    if let reason = result.skipped { return "\(terminal.paint("skip", .yellow))  \(name)  \(reason)" }
    let mark = result.passed ? terminal.paint("ok", .green) + "  " : terminal.paint("FAIL", .red)
    let seed = showsSeeds ? "  seed \(result.seed)" : ""
    return "\(mark)  \(name)  \(result.elapsed.readable.aligned(to: 8))\(seed)"
  }

  /// The most findings to show; further ones repeat the same.
  private static let mostFindings = 12
  private static let mostEvents = 60

  private func details(_ result: ScenarioResult) -> [String] {
    let warnings = result.warnings.prefix(Self.mostFindings).flatMap { explained($0, "warning") }
    guard !result.findings.isEmpty || isVerbose && result.skipped == nil else { return warnings }
    let shown = result.findings.prefix(Self.mostFindings)
    let findings = shown.flatMap { result.depth == .serviceExtension ? explained($0, "error") : ["      \($0)"] }
    let left = result.findings.count - shown.count
    let about = result.findings.isEmpty || result.scenario.about.isEmpty ? [] : ["      " + terminal.paint(result.scenario.about, .grey)]
    let file = result.findings.isEmpty ? [] : ["      " + terminal.paint(result.scenario.file, .grey)]
    let timeline = TimelineText(events: result.timeline).lines(most: isVerbose ? .max : Self.mostEvents).map { "      " + $0 }
    return file + about + findings + warnings + (left > 0 ? ["      … and \(left) more"] : []) + timeline
  }

  /// Returns a finding about a service extension, and what to do about it.
  private func explained(_ finding: Finding, _ level: String) -> [String] {
    let word = terminal.paint(level, level == "error" ? .red : .yellow)
    return ["      \(word)  \(finding)"] + (finding.kind.advice.map { ["          " + terminal.paint($0, .grey)] } ?? [])
  }

  mutating func interrupt() {
    terminal.write("interrupted after \(added) of \(planned) \(planned == 1 ? "scenario" : "scenarios"); the others were not played\n")
  }

  mutating func end(_ results: [ScenarioResult], elapsed: Duration) throws(ReportFailure) {
    terminal.write(summary(results, elapsed) + notes.map { $0 + "\n" }.joined() + histogram(Lateness(results)))
    try terminal.checkWritten()
  }

  private func summary(_ results: [ScenarioResult], _ elapsed: Duration) -> String {
    let failed = results.count { !$0.findings.isEmpty }
    let skipped = results.count { $0.findings.isEmpty && $0.skipped != nil }
    let parts = ["\(results.count - failed - skipped) passed", "\(failed) failed", "\(skipped) skipped"]
    let colours: [Terminal.Colour?] = [.green, failed > 0 ? .red : nil, skipped > 0 ? .yellow : nil]
    let painted = zip(parts, colours).map { part, colour in colour.map { terminal.paint(part, $0) } ?? part }
    return
      "\n\(results.count) \(results.count == 1 ? "scenario" : "scenarios") in \(elapsed.readable): \(painted.joined(separator: ", "))\n"
  }

  private func histogram(_ lateness: Lateness) -> String {
    guard let half = lateness.percentile(50), let most = lateness.percentile(99), let largest = lateness.largest else { return "" }
    let head =
      "lateness of \(lateness.count) \(lateness.count == 1 ? "line" : "lines"): p50 \(half.readable), p99 \(most.readable), max \(largest.readable)\n"
    let buckets = lateness.buckets
    let peak = buckets.map(\.count).max() ?? 1
    return buckets.reduce(into: head) { text, bucket in
      let bound = bucket.upTo.map { "up to \($0.readable)" } ?? "later"
      let bar = String(repeating: "#", count: (bucket.count * 40 + peak - 1) / peak)
      text += "  \(bound.padded(to: 16))\("\(bucket.count)".aligned(to: 6))\(bar.isEmpty ? "" : "  " + bar)\n"
    }
  }
}
