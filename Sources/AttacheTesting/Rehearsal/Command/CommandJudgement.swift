internal import Attache

/// Judges a run of a command by the promise, from the observations only.
struct CommandJudgement {
  let transcript: CommandTranscript
  let run: RunAnalysis
  let scenario: Scenario
  let demand: CommandRehearsal.Demand
  let inAnyOrder: Bool
  /// The times of the transcript, with the waits of the command's report.
  private let timing: CommandTiming

  init(transcript: CommandTranscript, run: RunAnalysis, scenario: Scenario, demand: CommandRehearsal.Demand, inAnyOrder: Bool) {
    (self.transcript, self.run, self.scenario, self.demand, self.inAnyOrder) = (transcript, run, scenario, demand, inAnyOrder)
    var timing = transcript.timing
    if let report = run.evidence.report {
      timing.note(waits: Dictionary(report.map { ($0.line &- 1, $0.placeWait ?? .zero) }) { first, _ in first })
    }
    self.timing = timing
  }

  private var evidence: Evidence { run.evidence }

  /// The violations, with causes before effects.
  var findings: [Finding] {
    isUnfit ? ending : ending + promise + expected
  }

  /// Whether it wrote nothing at all, or too much. The single lines are then not judged.
  var isUnfit: Bool { saidNothing || transcript.isFlooding }

  private var saidNothing: Bool {
    transcript.exit == nil && transcript.output.isEmpty && !evidence.input.isEmpty
  }

  // MARK: The end

  private var ending: [Finding] {
    if transcript.isFlooding {
      return [Finding(.altered, "it wrote \(transcript.output.count) bytes for \(inputSize) of input, and was killed")]
    }
    guard let exit = transcript.exit else { return [hung] }
    if transcript.inputEnd == nil, !transcript.isStopped {
      return [Finding(.crashed, "it ended with \(exit) before its input ended\(soFar)")]
    }
    if case .status(let status) = exit, mayEnd(with: status) { return [] }
    return [Finding(.crashed, "it ended with \(exit), expected status 0\(soFar)")]
  }

  /// Returns whether a status is acceptable. When everything is demanded, the expected status is
  /// checked with the other expectations.
  private func mayEnd(with status: Int32) -> Bool {
    demand == .all || status == 0 || status == scenario.expectation.exitStatus
  }

  private var hung: Finding {
    let time = Milliseconds(transcript.start.duration(to: transcript.end))
    guard !saidNothing else {
      return Finding(.hung, "it wrote nothing, did not end, and was killed after \(time)\(transcript.lastWords)")
    }
    return Finding(.hung, "it did not end after its input had ended, and was killed after \(time)\(transcript.lastWords)")
  }

  private var inputSize: Int { evidence.input.reduce(0) { $0 + $1.count + 1 } }

  private var soFar: String {
    let (answered, count) = (transcript.timing.answered.count, evidence.input.count)
    return ", after \(answered) of \(count) \(count == 1 ? "line" : "lines")\(transcript.lastWords)"
  }

  // MARK: What became of each payload

  var payloads: [ScenarioResult.OfPayload] {
    guard !isUnfit else { return evidence.input.indices.map { .init(line: $0 + 1) } }
    return run.results.map { result in
      var result = result
      result.lateness = lateness(result.line - 1)
      return result
    }
  }

  /// Returns the lateness of a line, from 0, measured at the rehearsal's end of the pipe and
  /// without slack.
  private func lateness(_ line: Int) -> Duration? {
    let answered = transcript.timing.answered
    guard let number = run.answers[line], number < answered.count else { return nil }
    return timing.due(line)?.duration(to: answered[number])
  }

  // MARK: The lines

  private var promise: [Finding] {
    var findings = PromiseCheck(anyOrder: inAnyOrder).findings(run, due: due)
    if isUnflushed, let first = findings.firstIndex(where: { $0.kind == .late }) {
      findings[first].message += "; nothing came before its input ended: does it flush its output when its input pauses?"
    }
    return findings
  }

  /// The deviations from the scenario's expectations, if they are demanded.
  private var expected: [Finding] {
    guard demand == .all else { return [] }
    let check = ExpectationCheck(scenario.expectation)
    return changedOriginals(check).abridged + check.findings(run)
  }

  /// Checks that lines that gain nothing stay identical to the byte. The promise requires only
  /// their members.
  private func changedOriginals(_ check: ExpectationCheck) -> [Finding] {
    run.accounts.filter { account in
      guard let outcome = check.expected(account.line - 1)?.outcome else { return false }
      return outcome != .attached && account.isOriginal == false
    }.map { account in
      Finding(.altered, payload: account.line, "expected the original byte for byte, got other bytes")
    }
  }

  /// The due time of each line on the clock of the arrivals. A line whose clock never started is
  /// never late.
  private var due: [Duration] {
    let allowance = transcript.timing.limits.slack + scenario.expectation.lateness
    return evidence.input.indices.map { line in
      guard let due = timing.due(line) else { return .seconds(Int64(Int32.max)) }
      return transcript.start.duration(to: due) + allowance
    }
  }

  /// Whether it wrote nothing until its input ended.
  private var isUnflushed: Bool {
    guard let inputEnd = transcript.inputEnd, let first = transcript.timing.answered.first else { return false }
    return evidence.endsWithLineFeed && first >= inputEnd
  }
}
