internal import Attache

/// All checks for attache itself: the promise to the byte, its report, and the scenario's
/// expectations.
package enum EngineCheck {
  package static func findings(_ run: RunAnalysis, of scenario: Scenario) -> [Finding] {
    hang(run) + PromiseCheck(anyOrder: !run.evidence.isOrdered).findings(run)
      + LatenessCheck.findings(run.evidence, bound: scenario.expectation.lateness)
      + ExpectationCheck(scenario.expectation).findings(run)
  }

  private static func hang(_ run: RunAnalysis) -> [Finding] {
    guard run.evidence.hung else { return [] }
    let answered = "\(run.output.count) of \(run.evidence.input.count) lines were answered"
    return [Finding(.hung, "the filter did not end with its input, and the rehearsal gave up; \(answered)")]
  }
}
