internal import Attache

/// Checks a worker that was killed and restarted until its queue was empty: each payload must have
/// one complete result, which is the original or what the scenario expects.
package enum KilledQueueCheck {
  package static func findings(_ run: RunAnalysis, of scenario: Scenario) -> [Finding] {
    hang(run.evidence) + PromiseCheck().findings(run)
      + (records(run.evidence) + run.accounts.flatMap { dead($0) + gained($0, scenario) }).abridged
      + ExpectationCheck(reduced(scenario, run.accounts)).findings(run)
  }

  private static func hang(_ evidence: Evidence) -> [Finding] {
    evidence.hung ? [Finding(.hung, "the worker did not end with its queue, and the rehearsal gave up")] : []
  }

  /// Checks that each line has a record. ``ExpectationCheck`` checks that it has at most one.
  private static func records(_ evidence: Evidence) -> [Finding] {
    guard let report = evidence.report else { return [] }
    let present = Set(report.map(\.line))
    return evidence.input.indices.filter { !present.contains($0 + 1) }.map {
      Finding(.lost, payload: $0 + 1, "expected one record, got none")
    }
  }

  private static func dead(_ account: PayloadAccount) -> [Finding] {
    guard account.reason == .queuePoison else { return [] }
    return [Finding(.reason, payload: account.line, "the worker was killed from outside, but the payload counts as the cause")]
  }

  private static func gained(_ account: PayloadAccount, _ scenario: Scenario) -> [Finding] {
    let expected = ExpectationCheck(scenario.expectation).expected(account.line - 1)
    guard let outcome = expected?.outcome, outcome != .attached, account.isOriginal == false else { return [] }
    return [Finding(.outcome, payload: account.line, "expected the original, got \(account.verdict)")]
  }

  /// Returns the expectations that still apply: the attachments of the lines that gained some, and
  /// the exit status.
  private static func reduced(_ scenario: Scenario, _ accounts: [PayloadAccount]) -> ScenarioExpectation {
    var expectation = ScenarioExpectation()
    expectation.exitStatus = scenario.expectation.exitStatus
    let check = ExpectationCheck(scenario.expectation)
    expectation.payloads = accounts.map { account in
      account.attachments.isEmpty ? .init() : .init(attachments: check.expected(account.line - 1)?.attachments)
    }
    return expectation
  }
}
