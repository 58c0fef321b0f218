internal import Attache

extension QueueRehearsal {
  /// Kills the worker at random times, restarts it each time, and checks the results when the queue
  /// is empty.
  func killed(_ result: inout ScenarioResult) async throws(StageError) {
    let scenario = result.scenario.scaled(by: timeScale)
    let (whole, longest) = try await worked(scenario)
    result.findings = KilledQueueCheck.findings(whole, of: scenario)
    // A worker that loses a payload without a kill is not killed.
    guard result.findings.isEmpty else { return }
    let (run, kills) = try await ScenarioStage.with(scenario) { stage throws(StageError) in
      try await QueueStage.with(stage, self) { queue throws(StageError) in
        try await queue.enqueue()
        let (work, kills) = try await killed(queue, within: longest)
        return (RunAnalysis(try await queue.evidence(work), of: scenario), kills)
      }
    }
    (result.payloads, result.lines, result.timeline) = (run.results, run.lines, run.evidence.timeline)
    for index in result.payloads.indices { result.payloads[index].lateness = nil }
    if kills == 0 { result.skipped = "no kill point was reached: the worker had ended before" }
    result.findings = KilledQueueCheck.findings(run, of: scenario).map { finding in
      let times = kills == 1 ? "once" : "\(kills) times"
      return Finding(finding.kind, payload: finding.payload, "killed \(times) and started again: \(finding.message)")
    }
  }

  /// Kills the worker up to `randomKills` times.
  ///
  /// - Parameter longest: the duration of a run without a kill.
  /// - Returns: the last run, which ended by itself, and the number of kills.
  private func killed(_ queue: QueueStage, within longest: Duration) async throws(StageError) -> (CommandTranscript, kills: Int) {
    var random = SeededGenerator(seed: seed)
    var kills = 0
    for _ in 0..<randomKills where !Task.isCancelled {
      let outcome = try await queue.work(killedAfter: longest * Double.random(in: 0..<1, using: &random))
      guard outcome.isKilled else { return (outcome, kills) }
      kills += 1
    }
    return (try await queue.work(), kills)
  }
}
