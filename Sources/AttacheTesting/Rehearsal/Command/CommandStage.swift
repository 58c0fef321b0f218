internal import Attache
internal import AttacheArguments
internal import FoundationEssentials
internal import Glibc

/// The environment of a scenario as a command sees it.
struct CommandStage {
  private let stage: ScenarioStage

  /// Sets up an environment, plays a command in it, and tears it down.
  ///
  /// - Parameter kill: receives the requests that reach the origins and the pieces that they send.
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
      // An existing folder works for every filter; attache would create it with the same mode.
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

  /// The scenario with its placeholders filled in.
  var scenario: Scenario { stage.scenario }
  var lines: [[UInt8]] { stage.input }
  var timeline: Timeline { stage.timeline }
  /// The network in which a command starts; nil for this machine's network.
  var network: NetworkNamespace? { stage.network }
  /// Whether the scenario's flags allow lines in any order.
  var isUnordered: Bool { stage.options.order.unordered }
  /// The maximum number of undecided payloads, according to the scenario's flags.
  var jobs: Int { stage.options.engine.timing.jobs }

  /// The path of a queue.
  var queue: String { stage.queue }
  /// The JSON Pointer to the payload within a line, according to the scenario's flags.
  var payloadPath: String? { stage.options.engine.payloads.payloadPath?.description }

  /// Returns the environment of a command: this process's variables and those of the scenario.
  ///
  /// - Throws: ``StageError/unavailable(_:)`` when a flag contains a blank, at which the shell
  ///   would split it.
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

  /// Returns the flags as shell words. A value that is a file name pattern is joined to its flag
  /// with `=`. By itself, it could expand to a file whose name looks like a flag.
  static func shellWords(_ flags: [String]) -> String {
    flags.reduce(into: "") { words, flag in
      let isPattern = flag.utf8.contains { "*?[".utf8.contains($0) } && flag.utf8.first != UInt8(ascii: "-")
      words += (words.isEmpty ? "" : isPattern ? "=" : " ") + flag
    }
  }

  /// Returns the evidence of a run over all lines. Call it while the store still exists.
  func evidence(of transcript: CommandTranscript) -> Evidence {
    note(transcript)
    var evidence = evidence(output: transcript.output)
    evidence.arrivals = transcript.arrivals
    do { evidence.report = try stage.readReport() } catch { evidence.reportError = error }
    (evidence.memory, evidence.descriptors) = (transcript.resources?.memory, transcript.resources?.descriptors)
    if case .status(let status) = transcript.exit { evidence.exitStatus = status }
    evidence.hung = transcript.exit == nil
    evidence.elapsed = transcript.start.duration(to: transcript.end)
    return evidence
  }

  /// Returns the evidence of an output and the environment. Call it while the store still exists.
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
  /// Whether the text contains a byte at which a shell can split a word. It checks bytes, because a
  /// blank after some letters is not a separate Character.
  fileprivate var isSplitByShell: Bool {
    utf8.contains { $0 == 0x20 || 0x09...0x0D ~= $0 }
  }
}
