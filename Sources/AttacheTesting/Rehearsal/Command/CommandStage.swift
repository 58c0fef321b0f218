internal import Attache
internal import AttacheArguments
internal import FoundationEssentials
internal import Glibc

/// The world of a scenario as a command meets it.
struct CommandStage {
  private let stage: ScenarioStage

  /// Sets a world up, lets a command play in it, and takes it down.
  ///
  /// - Parameter kill: told of what reaches and leaves the origins.
  static func with<Value>(
    _ scenario: Scenario, kill: CommandKill? = nil, _ play: (CommandStage) async throws(StageError) -> Value
  ) async throws(StageError) -> Value {
    let stage = try await ScenarioStage(scenario) { event in
      switch event {
      case .request: kill?.happened(.request)
      case .sent: kill?.happened(.sent)
      }
    }
    do throws(StageError) {
      // A folder that is there serves every filter; attache would make it with the same mode.
      _ = unsafe mkdir(stage.store, 0o700)
      let value = try await play(CommandStage(stage: stage))
      if let failure = stage.failure { throw failure }
      await stage.takeDown()
      return value
    } catch {
      await stage.takeDown()
      throw error
    }
  }

  /// With its placeholders filled in.
  var scenario: Scenario { stage.scenario }
  var lines: [[UInt8]] { stage.input }
  var timeline: Timeline { stage.timeline }
  /// Where a command is started; nil is this machine's network.
  var network: NetworkNamespace? { stage.network }
  /// Whether the scenario's flags let lines come in any order.
  var isUnordered: Bool { stage.options.order.unordered }
  /// Payloads undecided at a time, by the scenario's flags.
  var jobs: Int { stage.options.engine.timing.jobs }

  /// The path of a queue.
  var queue: String { stage.queue }
  /// The JSON Pointer of the payload within a line, by the scenario's flags.
  var payloadPath: String? { stage.options.engine.payloads.payloadPath?.description }

  /// The environment of a command: this process's, and where the scenario's world is.
  ///
  /// - Throws: ``StageError/unavailable(_:)`` when a flag holds a blank, which splits it in the
  ///   shell.
  func environment() throws(StageError) -> [String: String] {
    if let flag = stage.flags.first(where: { $0.isSplitByShell }) {
      throw .unavailable("\(Excerpt(flag.utf8)) holds a blank, which REHEARSAL_FLAGS cannot carry")
    }
    var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("REHEARSAL_") }
    environment["REHEARSAL_FLAGS"] = Self.shellWords(stage.flags)
    environment["REHEARSAL_DEADLINE_MS"] = "\(max(1, Int(scenario.deadline.milliseconds)))"
    environment["REHEARSAL_DNS"] = stage.nameServer
    environment["REHEARSAL_STORE"] = stage.store
    environment["REHEARSAL_REPORT"] = stage.report
    environment["REHEARSAL_CACERT"] = stage.rootCertificates
    environment["REHEARSAL_ORIGIN"] = stage.addresses["origin"].map(\.text)
    return environment
  }

  /// The flags as words of the shell. A value that the shell takes for a pattern of file names is
  /// joined to its flag: by itself it could come to a file that is named like a flag.
  static func shellWords(_ flags: [String]) -> String {
    flags.reduce(into: "") { words, flag in
      let isPattern = flag.utf8.contains { "*?[".utf8.contains($0) } && flag.utf8.first != UInt8(ascii: "-")
      words += (words.isEmpty ? "" : isPattern ? "=" : " ") + flag
    }
  }

  /// What a run over all lines left behind; to be called while the store is still there.
  func evidence(of transcript: CommandTranscript) -> Evidence {
    note(transcript)
    var evidence = evidence(output: transcript.output)
    evidence.arrivals = transcript.arrivals
    do { evidence.report = try stage.readReport() } catch { evidence.reportError = error }
    if transcript.isMeasured { (evidence.memory, evidence.descriptors) = (transcript.resources.memory, transcript.resources.descriptors) }
    if case .status(let status) = transcript.exit { evidence.exitStatus = status }
    evidence.hung = transcript.exit == nil
    evidence.elapsed = transcript.start.duration(to: transcript.end)
    return evidence
  }

  /// What an output and the world around say; to be called while the store is still there.
  func evidence(output: [UInt8]) -> Evidence {
    var evidence = Evidence(input: lines, endsWithLineFeed: scenario.endsWithLineFeed)
    evidence.place = OutputPlace(stage.options.engine.payloads)
    evidence.output = output
    (evidence.requests, evidence.fields) = (stage.requests, stage.fields)
    evidence.connections = stage.connections
    (evidence.destinations, evidence.namesAsked) = (stage.destinations, stage.namesAsked)
    evidence.timeline = timeline.events
    evidence.collectFiles()
    return evidence
  }
}

extension String {
  /// Whether it holds a byte at which a shell may split a word: a blank behind some letters is no
  /// Character of its own.
  fileprivate var isSplitByShell: Bool {
    utf8.contains { $0 == 0x20 || 0x09...0x0D ~= $0 }
  }
}
