internal import Attache

/// Rehearses a command that reads payloads from standard input and writes them to standard output,
/// one per line.
///
///     let rehearsal = CommandRehearsal("my-filter --deadline ${REHEARSAL_DEADLINE_MS}ms")
///     let result = await rehearsal.run(try Scenario(contentsOfFile: "scenarios/origin-stalls.yaml"))
///     #expect(result.findings.isEmpty)
///
/// The command runs through `/bin/sh -c` in its own process group, on the real clock. The whole
/// group is ended when the command is done, some time after its last deadline, or when the task is
/// cancelled.
public struct CommandRehearsal: Sendable {
  /// The requirements for a command.
  public enum Demand: String, Sendable, CaseIterable {
    /// Each line of input appears once, unchanged or with members added, in order and in time. The
    /// command runs until its input ends.
    case promise
    /// The promise and all expectations of the scenario: outcomes, reasons, attachments, requests,
    /// limits.
    case all
  }

  /// The command line for `/bin/sh -c`.
  public var command: String
  /// How long the command can continue after its last deadline before it counts as hung; nil is
  /// twice the deadline.
  public var hangAfter: Duration?
  /// The allowed lateness of a line after its deadline, for the delay between two processes.
  public var slack = Duration.milliseconds(250)
  /// Whether lines can come in another order than the input's.
  public var inAnyOrder = false
  /// The requirements for the command.
  public var demand = Demand.promise
  /// The points at which the command is killed and restarted, each in a separate run. If there are
  /// any, the only check is that no line is lost or torn.
  public var killPoints: [CommandKillPoint] = []
  /// The number of additional random kill points, chosen by ``seed``.
  public var randomKills = 0
  /// The seed of the random kill points.
  public var seed: UInt64 = 1
  /// The factor for all times of a scenario.
  public var timeScale = 1.0
  /// Whether the other scenarios are played after the command hung without output in the first.
  public var goesOnAfterHang = false
  /// Additional environment variables. They take precedence over this process's and the scenario's.
  public var environment: [String: String] = [:]

  /// Creates a rehearsal of a command line.
  public init(_ command: String) {
    self.command = command
  }

  /// Plays a scenario. The result is skipped when the scenario cannot be played with a command or
  /// when the task is cancelled.
  public func run(_ scenario: Scenario) async -> ScenarioResult {
    var result = ScenarioResult(scenario, depth: .command, seed: seed)
    result.skipped = reasonToSkip(scenario)
    guard result.skipped == nil else { return result }
    await result.play { result throws(StageError) in
      if kills { try await killed(&result) } else { try await undisturbed(&result) }
      result.findings = result.findings.abridged
    }
    return result
  }

  private var kills: Bool { !killPoints.isEmpty || randomKills > 0 }

  /// Returns the reason why a command cannot play the scenario; nil when it can.
  func reasonToSkip(_ scenario: Scenario) -> String? {
    if scenario.serviceExtension != .media { return "the extension of this scenario runs only in attache's own process" }
    if demand != .all, scenario.faultsFetchers {
      return "the promise says nothing about the end of a filter's processes; --expect all checks it"
    }
    if kills, scenario.disk != nil { return "its disk would prevent the restart of the command" }
    guard scenario.stop != nil else { return nil }
    if kills { return "it is told to stop, so it cannot be killed as well" }
    return demand == .all ? nil : "the promise says nothing about a filter that is told to stop"
  }

  // MARK: One run

  private func undisturbed(_ result: inout ScenarioResult) async throws(StageError) {
    let (judgement, timeline) = try await ScenarioStage.with(result.scenario.scaled(by: timeScale)) { stage throws(StageError) in
      let transcript = try await play(stage, lines: stage.input)
      let evidence = stage.evidence(of: transcript)
      return (judge(transcript, evidence, demand, stage), evidence.timeline)
    }
    (result.findings, result.payloads, result.timeline) = (judgement.findings, judgement.payloads, timeline)
    result.lines = judgement.run.lines
  }

  func judge(_ transcript: CommandTranscript, _ evidence: Evidence, _ demand: Demand, _ stage: ScenarioStage) -> CommandJudgement {
    CommandJudgement(
      transcript: transcript, run: RunAnalysis(evidence), scenario: stage.scenario, demand: demand,
      inAnyOrder: inAnyOrder || !stage.configuration.filter.isOrdered)
  }

  /// Runs the command over some of the scenario's lines.
  func play(
    _ stage: ScenarioStage, lines: [[UInt8]], endsWithLineFeed: Bool? = nil, kill: CommandKill? = nil
  ) async throws(StageError) -> CommandTranscript {
    let scenario = stage.scenario
    let limits = CommandTiming.Limits(
      deadline: scenario.deadline, slack: slack, hangAfter: hangAfter ?? scenario.deadline * 2, jobs: stage.configuration.filter.jobs)
    let script = CommandSession.Script(
      lines: lines, endsWithLineFeed: endsWithLineFeed ?? scenario.endsWithLineFeed, pace: .filter(limits), stop: scenario.stop, kill: kill,
      watchesResources: demand == .all && (scenario.expectation.memory != nil || scenario.expectation.descriptors != nil))
    let launch = ProcessLaunch.shell(command, environment: try stage.environment().merging(environment) { _, own in own })
    return try await CommandSession.run(script, launch, in: stage.network)
  }
}

extension CommandRehearsal {
  /// The environment variables of a command, for a command line's help.
  package static let environmentHelp = """
      REHEARSAL_FLAGS        what attache needs: 'attache $REHEARSAL_FLAGS'
      REHEARSAL_DEADLINE_MS  the budget of a payload, in milliseconds
      REHEARSAL_ORIGIN       the origin, as http://127.0.0.1:PORT
      REHEARSAL_DNS          the name server, as 127.0.0.1:PORT
      REHEARSAL_CACERT       root certificates, if an origin uses TLS
      REHEARSAL_STORE        a folder for the command's files
      REHEARSAL_REPORT       a file for a report such as attache's
    """
}
