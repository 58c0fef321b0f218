internal import Attache
internal import AttacheArguments

/// All checks for attache itself: the promise to the byte, its report, and the scenario's
/// expectations.
package enum EngineCheck {
  package static func findings(_ evidence: Evidence, of scenario: Scenario) -> [Finding] {
    var evidence = evidence
    if scenario.stop != nil { evidence.leaveUnread() }
    let promise = PromiseCheck(.splice(evidence.place), anyOrder: !evidence.isOrdered)
    return hang(evidence) + promise.findings(evidence)
      + LatenessCheck.findings(evidence, bound: scenario.expectation.lateness)
      + ExpectationCheck(scenario.expectation).findings(evidence)
  }

  private static func hang(_ evidence: Evidence) -> [Finding] {
    guard evidence.hung else { return [] }
    let answered = "\(evidence.outputLines.count) of \(evidence.input.count) lines were answered"
    return [Finding(.hung, "the filter was expected to end with its input, and had to be given up; \(answered)")]
  }
}

extension Evidence {
  /// Removes the input lines that a stopped filter did not read, because it owes nothing for them.
  /// These are the lines after the last one in its report.
  fileprivate mutating func leaveUnread() {
    guard exitStatus == ExitStatus.temporaryFailure, let report else { return }
    let read = report.map(\.line).max() ?? 0
    guard read < input.count else { return }
    input = Array(input.prefix(read))
    endsWithLineFeed = true
  }
}
