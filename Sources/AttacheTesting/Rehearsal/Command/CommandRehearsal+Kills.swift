internal import Attache

extension CommandRehearsal {
  /// Kills the command at each point, in a separate run. Restarts it with the unanswered lines and
  /// checks the combined output of both runs.
  func killed(_ result: inout ScenarioResult) async throws(StageError) {
    var reached = 0
    for point in try await points(&result) where !Task.isCancelled {
      if try await killed(at: point, &result) { reached += 1 }
    }
    if reached == 0, result.findings.isEmpty { result.skipped = "no kill point was reached: the command had ended before" }
  }

  /// Returns the requested points. Random points are within the time of an undisturbed run, or
  /// within its deadline if that is shorter.
  private func points(_ result: inout ScenarioResult) async throws(StageError) -> [CommandKillPoint] {
    guard randomKills > 0 else { return killPoints }
    let (findings, longest) = try await ScenarioStage.with(result.scenario.scaled(by: timeScale)) { stage throws(StageError) in
      let transcript = try await play(stage, lines: stage.input)
      let time = min(stage.scenario.deadline, transcript.start.duration(to: transcript.end))
      return (judge(transcript, stage, stage.input), time)
    }
    guard findings.isEmpty else {
      // A command that breaks the promise without a kill is not killed.
      result.findings = findings
      return []
    }
    var random = SeededGenerator(seed: seed)
    return killPoints + (0..<randomKills).map { _ in .moment(longest * Double.random(in: 0..<1, using: &random)) }
  }

  /// Plays one run with a kill.
  ///
  /// - Returns: whether the point was reached.
  private func killed(at point: CommandKillPoint, _ result: inout ScenarioResult) async throws(StageError) -> Bool {
    let kill = CommandKill(at: point)
    let isReached = try await ScenarioStage.with(result.scenario.scaled(by: timeScale), kill: kill) { stage throws(StageError) in
      result.findings += try await killedAndRestarted(stage, kill)
      result.timeline += stage.timeline.events
      if !kill.isDone { result.timeline.append(.init(at: .zero, .filter, "the kill point \(point) was not reached")) }
      return kill.isDone
    }
    return isReached
  }

  private func killedAndRestarted(_ stage: ScenarioStage, _ kill: CommandKill) async throws(StageError) -> [Finding] {
    let first = try await play(stage, lines: stage.input, kill: kill)
    stage.timeline.note(first)
    guard first.isKilled else { return judge(first, stage, stage.input) }
    stage.timeline.note(.filter, "killed at \(kill.point)", at: first.end)
    let restart = CommandRestart(
      point: kill.point, input: stage.input, endsWithLineFeed: stage.scenario.endsWithLineFeed, firstOutput: first.output)
    let left = restart.unanswered
    guard !left.isEmpty else { return restart.findings(secondOutput: []) }
    let lines = left.map { stage.input[$0] }
    let second = try await play(
      stage, lines: lines, endsWithLineFeed: stage.scenario.endsWithLineFeed || left.last != stage.input.count - 1)
    stage.timeline.note(second, isFirst: false)
    let ending = judge(second, stage, lines).filter { $0.kind == .hung || $0.kind == .crashed }
    return restart.findings(secondOutput: second.output) + ending
  }

  /// Returns the violations of a single run.
  private func judge(_ transcript: CommandTranscript, _ stage: ScenarioStage, _ lines: [[UInt8]]) -> [Finding] {
    var evidence = Evidence(input: lines, endsWithLineFeed: stage.scenario.endsWithLineFeed)
    evidence.output = transcript.output
    evidence.arrivals = transcript.arrivals
    return judge(transcript, evidence, .promise, stage).findings
  }
}
