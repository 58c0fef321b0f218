internal import Attache

/// A queue in a scenario's environment, and the commands that fill it, work it and read it.
struct QueueStage: Sendable {
  /// The memory that a worker can use in addition to a filter's, in bytes: the database's page
  /// cache (8 MB) and code, and data on its way into the database.
  private static let queueMemory = 16_000_000

  private let stage: ScenarioStage
  private let rehearsal: QueueRehearsal
  private let environment: [String: String]

  /// Runs `body` with a queue that nothing else uses. Drops the queue of a server afterwards, even
  /// when the rehearsal is cancelled.
  static func with<Value: Sendable>(
    _ stage: ScenarioStage, _ rehearsal: QueueRehearsal, _ body: (QueueStage) async throws(StageError) -> Value
  ) async throws(StageError) -> Value {
    let queue = try QueueStage(stage, rehearsal)
    let value: Value
    do throws(StageError) {
      value = try await body(queue)
    } catch {
      _ = await queue.dropped().result
      throw error
    }
    switch await queue.dropped().result {
    case .success: return value
    case .failure(let error as StageError): throw error
    case .failure(let error): throw .queue("\(error)")
    }
  }

  private init(_ stage: ScenarioStage, _ rehearsal: QueueRehearsal) throws(StageError) {
    (self.stage, self.rehearsal) = (stage, rehearsal)
    var environment = try stage.environment().merging(rehearsal.environment) { _, own in own }
    environment["REHEARSAL_QUEUE"] =
      switch rehearsal.place {
      case .folder(let kind): "\(kind.rawValue):\(stage.queue)"
      case .server(let uri): Self.ownQueue(at: uri)
      }
    environment["REHEARSAL_FLAGS"] = environment["REHEARSAL_FLAGS"].map(Self.withoutReport)
    // Passed as a variable and not in the command, because a path can contain characters that a
    // shell interprets.
    environment["REHEARSAL_PAYLOAD_PATH"] = stage.configuration.filter.payloadPath?.description
    self.environment = environment
  }

  /// Returns the URI of a new queue of a server.
  static func ownQueue(at uri: String) -> String {
    let name = (0..<4).map { _ in String(UInt32.random(in: 0...UInt32.max), radix: 36) }.joined()
    return "\(uri)\(uri.contains("?") ? "&" : "?")queue=rehearsal_\(name)"
  }

  /// Whether a server's URI names only the folder of a socket, which is in the parameter `host` or
  /// in the place of the host.
  static func isSocket(_ uri: String) -> Bool {
    let rest = uri.drop { $0 != ":" }.dropFirst()
    let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
    let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    let parameters = rest.drop { $0 != "?" }.dropFirst().split(separator: "&")
    let isFolder = { (host: Substring) in host.hasPrefix("/") || host.lowercased().hasPrefix("%2f") }
    return isFolder(host) || host.isEmpty && parameters.contains { $0.hasPrefix("host=") && isFolder($0.dropFirst(5)) }
  }

  /// Drops the queue if it is on a server. The queues of a folder go with the folder.
  private func dropped() -> Task<Void, any Error> {
    Task.detached { [self] in
      guard case .server = rehearsal.place else { return }
      _ = try await finish("attache purge", "--queue \"$REHEARSAL_QUEUE\" --older-than 0s --include-undelivered --drop-queue")
    }
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
    let path = environment["REHEARSAL_PAYLOAD_PATH"] == nil ? "" : " --payload-path \"$REHEARSAL_PAYLOAD_PATH\""
    _ = try await finish("attache enqueue", "--queue \"$REHEARSAL_QUEUE\"\(path)", lines: stage.input)
  }

  /// Runs the worker once.
  ///
  /// - Parameter moment: the time to kill it, counted from its start; nil for never.
  func work(killedAfter moment: Duration? = nil) async throws(StageError) -> CommandTranscript {
    let expectation = stage.scenario.expectation
    let transcript = try await run(
      rehearsal.worker,
      CommandSession.Script(
        pace: .tool(timeLimit: timeLimit), kill: moment.map { CommandKill(at: .moment($0)) },
        watchesResources: moment == nil && (expectation.memory != nil || expectation.descriptors != nil)))
    let ending =
      transcript.isKilled
      ? "killed after \(Milliseconds(transcript.start.duration(to: transcript.end)))"
      : transcript.exit.map { "ended with \($0)" } ?? "did not end, and was killed"
    stage.timeline.note(.filter, "the worker \(ending)\(transcript.lastWords)", at: transcript.end)
    return transcript
  }

  /// Returns the contents of the queue and the observations of its last worker.
  func evidence(_ work: CommandTranscript) async throws(StageError) -> Evidence {
    // Reads the records first, because reading the results releases the files held for them.
    let report = try await finish("attache results --report", "--queue \"$REHEARSAL_QUEUE\"")
    let results = try await finish("attache results", "--queue \"$REHEARSAL_QUEUE\"")
    var evidence = Evidence(output: results, on: stage)
    evidence.readReport(report)
    evidence.take(work)
    if let resources = work.resources {
      (evidence.memory, evidence.descriptors) = (max(0, resources.memory - Self.queueMemory), resources.descriptors)
    }
    return evidence
  }

  /// Runs a command that must succeed. It gets a minute more than a worker, because it is not
  /// rehearsed.
  ///
  /// - Returns: its output.
  private func finish(_ name: String, _ arguments: String, lines: [[UInt8]] = []) async throws(StageError) -> [UInt8] {
    let script = CommandSession.Script(
      lines: lines, endsWithLineFeed: stage.scenario.endsWithLineFeed, pace: .tool(timeLimit: timeLimit + .seconds(60)))
    let transcript = try await run("\(name) \(arguments)", script)
    guard transcript.exit == .status(0) else {
      let ending = transcript.exit.map { "ended with \($0)" } ?? "did not end"
      throw .queue("\(name) \(ending)\(transcript.lastWords)")
    }
    return transcript.output
  }

  private func run(_ command: String, _ script: CommandSession.Script) async throws(StageError) -> CommandTranscript {
    try await CommandSession.run(script, .shell(command, environment: environment), in: stage.network)
  }

  /// The maximum duration of a worker. Each payload can take its deadline, with `jobs` payloads at
  /// a time. A payload runs alone after two workers died while they worked on it.
  private var timeLimit: Duration {
    let deadline = stage.scenario.deadline
    let rounds = stage.input.count / (rehearsal.randomKills > 0 ? 1 : max(1, stage.configuration.filter.jobs)) + 1
    return deadline * rounds + (rehearsal.hangAfter ?? deadline * 2 + .seconds(10))
  }
}
