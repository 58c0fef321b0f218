internal import Attache

/// Rehearses a command that reads payloads on standard input and writes them on standard output,
/// one a line.
///
///     let rehearsal = CommandRehearsal("my-filter --deadline ${REHEARSAL_DEADLINE_MS}ms")
///     let result = await rehearsal.run(try Scenario(contentsOfFile: "scenarios/origin-stalls.yaml"))
///     #expect(result.findings.isEmpty)
///
/// The command runs through `/bin/sh -c` in a process group of its own, against the real clock. Its
/// group is ended whole when it is done, some time after its last deadline, or when the task is
/// cancelled.
public struct CommandRehearsal: Sendable {
  /// What a command is asked for.
  public enum Demand: String, Sendable, CaseIterable {
    /// Each line of input comes once, as it was or with members added, in order and in time, and
    /// the command lives until its input ends.
    case promise
    /// And all that the scenario expects: outcomes, reasons, attachments, requests, bounds.
    case all
  }

  /// What `/bin/sh -c` is given.
  public var command: String
  /// How long after its last deadline it may go on; nil is twice the deadline.
  public var hangAfter: Duration?
  /// How much later than its deadline a line may come, for what lies between two processes.
  public var slack = Duration.milliseconds(250)
  /// Whether its lines may come in another order than the input's.
  public var inAnyOrder = false
  public var demand = Demand.promise
  /// Where it is killed and started again, each in a run of its own; then only that no line is lost
  /// or torn is checked.
  public var killPoints: [CommandKillPoint] = []
  /// The same at so many random moments, by ``seed``.
  public var randomKills = 0
  public var seed: UInt64 = 1
  /// Every time of a scenario is multiplied by this.
  public var timeScale = 1.0
  /// Whether the other scenarios are played when the command has hung without a word in the first.
  public var goesOnAfterHang = false
  /// Variables of its environment beside this process's and the scenario's.
  public var environment: [String: String] = [:]

  public init(_ command: String) {
    self.command = command
  }

  /// Plays a scenario.
  public func run(_ scenario: Scenario) async -> ScenarioResult {
    var result = ScenarioResult(scenario, depth: .command, seed: seed)
    result.skipped = reasonToSkip(scenario)
    guard result.skipped == nil else { return result }
    let start = MonotonicInstant.now
    do throws(StageError) {
      if kills { try await killed(&result) } else { try await undisturbed(&result) }
    } catch {
      switch error {
      case .unavailable(let reason): result.skipped = reason
      case .system, .origin, .dns, .flags, .beyondLoopback, .queue: result.findings = [Finding(.stage, error.description)]
      }
    }
    result.findings = Task.isCancelled ? [] : result.findings.abridged
    if Task.isCancelled { result.skipped = "interrupted" }
    result.elapsed = start.duration(to: .now)
    return result
  }

  private var kills: Bool { !killPoints.isEmpty || randomKills > 0 }

  /// What a command cannot be asked for.
  func reasonToSkip(_ scenario: Scenario) -> String? {
    if scenario.serviceExtension != .media { return "the extension of this scenario plays in attache's own process only" }
    if demand != .all, scenario.faultsFetchers {
      return "what comes of an end of its processes is no part of the promise; --expect all asks for it"
    }
    if kills, scenario.disk != nil { return "its disk would keep the command from starting again" }
    guard scenario.stop != nil else { return nil }
    if kills { return "it is told to stop, which is no place for a kill" }
    return demand == .all ? nil : "what a filter does when it is told to stop is no part of the promise"
  }

  // MARK: One run

  private func undisturbed(_ result: inout ScenarioResult) async throws(StageError) {
    let judgement = try await CommandStage.with(result.scenario.scaled(by: timeScale)) { stage throws(StageError) in
      let transcript = try await play(stage, lines: stage.lines)
      return CommandJudgement(
        transcript: transcript, evidence: stage.evidence(of: transcript), scenario: stage.scenario, demand: demand,
        inAnyOrder: inAnyOrder || stage.isUnordered)
    }
    result.findings = judgement.findings
    result.payloads = judgement.payloads
    result.timeline = judgement.evidence.timeline
  }

  /// Runs the command over some of the scenario's lines.
  func play(
    _ stage: CommandStage, lines: [[UInt8]], endsWithLineFeed: Bool? = nil, kill: CommandKill? = nil
  ) async throws(StageError) -> CommandTranscript {
    let scenario = stage.scenario
    let script = CommandSession.Script(
      lines: lines, endsWithLineFeed: endsWithLineFeed ?? scenario.endsWithLineFeed, limits: limits(stage), stop: scenario.stop, kill: kill,
      watchesResources: demand == .all && (scenario.expectation.memory != nil || scenario.expectation.descriptors != nil))
    let launch = CommandLaunch(command: command, environment: try stage.environment().merging(environment) { _, own in own })
    let (group, pipes) = try await RehearsalThread.attempt(in: stage.network) { () throws(StageError) in try launch.started() }.get()
    do throws(SystemError) {
      return try await group.whileRunning { () throws(SystemError) in
        try await RehearsalThread.run {
          var dialogue = CommandSession(script, group: group, pipes: pipes)
          return dialogue.run()
        }
      }
    } catch {
      throw .system(call: error.call, errno: error.number)
    }
  }

  private func limits(_ stage: CommandStage) -> CommandTiming.Limits {
    CommandTiming.Limits(
      deadline: stage.scenario.deadline, slack: slack, hangAfter: hangAfter ?? stage.scenario.deadline * 2, jobs: stage.jobs)
  }
}

extension CommandRehearsal {
  /// What a command finds in its environment, for a command line's help.
  package static let environmentHelp = """
      REHEARSAL_FLAGS        what attache needs: 'attache $REHEARSAL_FLAGS'
      REHEARSAL_DEADLINE_MS  the budget of a payload, in milliseconds
      REHEARSAL_ORIGIN       the origin, as http://127.0.0.1:PORT
      REHEARSAL_DNS          the name server, as 127.0.0.1:PORT
      REHEARSAL_CACERT       root certificates, where an origin speaks TLS
      REHEARSAL_STORE        a folder for what the command keeps
      REHEARSAL_REPORT       a file for a report such as attache's
    """
}
