internal import Attache
internal import AttacheTesting

/// The report in the format of the Test Anything Protocol, version 14
/// (https://testanything.org/tap-version-14-specification.html).
struct TAPReport: RehearsalReport {
  private let terminal: Terminal
  private var number = 0

  init(_ terminal: Terminal) {
    self.terminal = terminal
  }

  mutating func begin(_ plan: RehearsalPlan) {
    terminal.write("TAP version 14\n1..\(plan.count)\n" + plan.notes.map { "# \($0)\n" }.joined())
  }

  mutating func add(_ result: ScenarioResult) {
    number += 1
    let directive = result.skipped.map { " # SKIP \($0)" } ?? ""
    let verdict = result.findings.isEmpty ? "ok" : "not ok"
    let title = "\(verdict) \(number) - \(Self.escaped(result.scenario.name))\(directive)\n"
    terminal.write(title + (result.findings.isEmpty ? "" : diagnostics(result)))
  }

  mutating func interrupt() {
    terminal.write("Bail out! interrupted\n")
  }

  mutating func end(_ results: [ScenarioResult], elapsed: Duration) throws(ReportFailure) {
    try terminal.checkWritten()
  }

  private func diagnostics(_ result: ScenarioResult) -> String {
    var lines = ["---", "file: \(Self.quoted(result.scenario.file))", "depth: \(result.depth.rawValue)", "seed: \(result.seed)"]
    lines.append("duration_ms: \(result.elapsed.reportedMilliseconds)")
    lines.append("findings:")
    for finding in result.findings {
      lines.append("  - kind: \(finding.kind.rawValue)")
      if let payload = finding.payload { lines.append("    payload: \(payload)") }
      lines.append("    message: \(Self.quoted(finding.message))")
    }
    let events = TimelineText(events: result.timeline).lines(most: 100)
    if !events.isEmpty { lines += ["timeline:"] + events.map { "  - \(Self.quoted($0))" } }
    return (lines + ["..."]).map { "  \($0)\n" }.joined()
  }

  /// Escapes `\` and `#`, which would begin a directive.
  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("#", with: "\\#")
  }

  /// Returns a double-quoted YAML scalar.
  static func quoted(_ text: String) -> String {
    let inside = text.unicodeScalars.map { scalar in
      switch scalar {
      case "\"", "\\": "\\\(scalar)"
      case "\n": "\\n"
      case "\t": "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F: "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      default: String(scalar)
      }
    }
    return "\"\(inside.joined())\""
  }
}
