internal import Attache

/// A queue in a scenario's environment, and the commands that fill it, work it and read it.
struct QueueStage {
  /// The memory that a worker can use in addition to a filter's, in bytes: the database's page
  /// cache (8 MB) and code, and data on its way into the database.
  private static let queueMemory = 16_000_000

  private let stage: CommandStage
  private let rehearsal: QueueRehearsal
  private let environment: [String: String]

  init(_ stage: CommandStage, _ rehearsal: QueueRehearsal) throws(StageError) {
    (self.stage, self.rehearsal) = (stage, rehearsal)
    var environment = try stage.environment().merging(rehearsal.environment) { _, own in own }
    environment["REHEARSAL_QUEUE"] = "\(rehearsal.kind.rawValue):\(stage.queue)"
    environment["REHEARSAL_FLAGS"] = environment["REHEARSAL_FLAGS"].map(Self.withoutReport)
    // Passed as a variable and not in the command, because a path can contain characters that a
    // shell interprets.
    environment["REHEARSAL_PAYLOAD_PATH"] = stage.payloadPath
    self.environment = environment
  }

  /// Removes `--report`, because a worker stores its records in the queue.
  private static func withoutReport(_ flags: String) -> String {
    var words = flags.split(separator: " ")
    if let report = words.firstIndex(of: "--report") { words.removeSubrange(report..<min(report + 2, words.count)) }
    return words.joined(separator: " ")
  }

  /// Adds the scenario's payloads to the queue.
  func enqueue() async throws(StageError) {
    stage.timeline.start = .now
    let path = stage.payloadPath == nil ? "" : " --payload-path \"$REHEARSAL_PAYLOAD_PATH\""
    var call = call("attache enqueue --queue \"$REHEARSAL_QUEUE\"\(path)")
    (call.lines, call.endsWithLineFeed) = (stage.lines, stage.scenario.endsWithLineFeed)
    _ = try await finished(call, "attache enqueue")
  }

  /// Runs the worker once.
  ///
  /// - Parameter moment: the time to kill it, counted from its start; nil for never.
  func work(killedAfter moment: Duration? = nil) async throws(StageError) -> CommandInvocation.Outcome {
    let expectation = stage.scenario.expectation
    var call = call(rehearsal.worker, patience: patience)
    call.killedAfter = moment
    call.watchesResources = moment == nil && (expectation.memory != nil || expectation.descriptors != nil)
    let outcome = try await call.run()
    let ending =
      outcome.isKilled
      ? "killed after \(Milliseconds(outcome.start.duration(to: outcome.end)))"
      : outcome.exit.map { "ended with \($0)" } ?? "did not end, and was killed"
    stage.timeline.note(.filter, "the worker \(ending)\(CommandTranscript.lastWords(outcome.errors))", at: outcome.end)
    return outcome
  }

  /// Returns the contents of the queue and the observations of its last worker.
  func evidence(_ work: CommandInvocation.Outcome) async throws(StageError) -> Evidence {
    // Reads the records first, because reading the results releases the files held for them.
    let report = try await finished(call("attache results --queue \"$REHEARSAL_QUEUE\" --report"), "attache results --report")
    let results = try await finished(call("attache results --queue \"$REHEARSAL_QUEUE\""), "attache results")
    var evidence = stage.evidence(output: results)
    do { evidence.report = try ReportedLine.read(report) } catch { evidence.reportError = error }
    if let resources = work.resources {
      (evidence.memory, evidence.descriptors) = (max(0, resources.memory - Self.queueMemory), resources.descriptors)
    }
    if case .status(let status) = work.exit { evidence.exitStatus = status }
    evidence.hung = work.exit == nil
    evidence.elapsed = work.start.duration(to: work.end)
    return evidence
  }

  /// Runs a command that must succeed.
  ///
  /// - Returns: its output.
  private func finished(_ call: CommandInvocation, _ name: String) async throws(StageError) -> [UInt8] {
    let outcome = try await call.run()
    guard outcome.exit == .status(0) else {
      let ending = outcome.exit.map { "ended with \($0)" } ?? "did not end"
      throw .queue("\(name) \(ending)\(CommandTranscript.lastWords(outcome.errors))")
    }
    return outcome.output
  }

  /// - Parameter patience: the maximum duration. Nil is a minute more than a worker gets, for
  ///   commands that are not rehearsed.
  private func call(_ command: String, patience: Duration? = nil) -> CommandInvocation {
    let patience = patience ?? self.patience + .seconds(60)
    return CommandInvocation(launch: .shell(command, environment: environment), network: stage.network, patience: patience)
  }

  /// The maximum duration of a worker. Each payload can take its deadline, with `jobs` payloads at
  /// a time. A payload runs alone after two workers died while they worked on it.
  private var patience: Duration {
    let deadline = stage.scenario.deadline
    let rounds = stage.lines.count / (rehearsal.randomKills > 0 ? 1 : max(1, stage.jobs)) + 1
    return deadline * rounds + (rehearsal.hangAfter ?? deadline * 2 + .seconds(10))
  }
}
