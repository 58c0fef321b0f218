internal import Attache
internal import FoundationEssentials
internal import Glibc

/// The environment of a scenario as a command sees it.
extension ScenarioStage {
  /// Sets up an environment, plays a command in it, and tears it down.
  ///
  /// - Parameter kill: receives the requests that reach the origins and the pieces that they send.
  static func with<Value>(
    _ scenario: Scenario, kill: CommandKill? = nil, _ play: (ScenarioStage) async throws(StageError) -> Value
  ) async throws(StageError) -> Value {
    let stage = try await ScenarioStage(scenario) { kill?.happened(.stage($0)) }
    do throws(StageError) {
      // An existing folder works for every filter; attache would create it with the same mode.
      _ = unsafe mkdir(stage.store, 0o700)
      let value = try await play(stage)
      if let failure = stage.failure { throw failure }
      await stage.takeDown()
      return value
    } catch {
      await stage.takeDown()
      throw error
    }
  }

  /// Returns the environment of a command: this process's variables and those of the scenario.
  ///
  /// - Throws: ``StageError/unavailable(_:)`` when a flag contains a blank, at which the shell
  ///   would split it.
  func environment() throws(StageError) -> [String: String] {
    let flags = flags
    if let flag = flags.first(where: { $0.isSplitByShell }) {
      throw .unavailable("\(Excerpt(flag.utf8)) contains a blank, which is not possible in REHEARSAL_FLAGS")
    }
    var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("REHEARSAL_") }
    environment["REHEARSAL_FLAGS"] = Self.shellWords(flags)
    environment["REHEARSAL_DEADLINE_MS"] = "\(max(1, Int(scenario.deadline.milliseconds)))"
    environment["REHEARSAL_DNS"] = nameServer
    environment["REHEARSAL_STORE"] = store
    environment["REHEARSAL_REPORT"] = report
    environment["REHEARSAL_CACERT"] = rootCertificates
    environment["REHEARSAL_ORIGIN"] = addresses["origin"].map(\.text)
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
    timeline.note(transcript)
    var evidence = Evidence(output: transcript.output, on: self)
    evidence.take(transcript)
    (evidence.memory, evidence.descriptors) = (transcript.resources?.memory, transcript.resources?.descriptors)
    evidence.arrivals = transcript.arrivals
    return evidence
  }
}

extension Evidence {
  /// Creates the evidence of a command or a queue. Call it while the store still exists.
  init(output: [UInt8], on stage: ScenarioStage) {
    self.init(input: stage.input, endsWithLineFeed: stage.scenario.endsWithLineFeed, filter: stage.configuration.filter)
    self.output = output
    stage.complete(&self)
  }

  /// Sets how a command ended.
  mutating func take(_ transcript: CommandTranscript) {
    if case .status(let status) = transcript.exit { exitStatus = status }
    hung = transcript.exit == nil
    elapsed = transcript.start.duration(to: transcript.end)
  }
}

extension String {
  /// Whether the text contains a byte at which a shell can split a word. It checks bytes, because a
  /// blank after some letters is not a separate Character.
  fileprivate var isSplitByShell: Bool {
    utf8.contains { $0 == 0x20 || 0x09...0x0D ~= $0 }
  }
}
