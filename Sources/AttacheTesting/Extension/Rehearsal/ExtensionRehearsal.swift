internal import Attache
internal import FoundationEssentials
internal import Synchronization

/// Rehearses an iOS service extension in the built-in situations.
package struct ExtensionRehearsal: Sendable {
  /// The path of the program that ``ExtensionBuilder`` made.
  package var program: String
  /// What the program runs.
  package var kind = ExtensionKind.serviceExtension
  /// The payloads to rehearse with; the situations change their URLs.
  package var payload = RehearsalPayload.standard
  /// The maximum anonymous memory of the extension, in bytes; nil for no limit.
  package var memoryLimit: Int? = 24_000_000
  /// The factor for the time of each situation.
  package var timeScale = 1.0
  /// The folder of the app groups; nil for an empty one in each situation.
  package var groups: String?
  /// Whether warnings fail a situation, as errors do.
  package var isStrict = false

  /// Receives what the author must know about the rehearsal.
  package var say: @Sendable (String) -> Void = { _ in }

  package init(program: String) {
    self.program = program
  }

  /// The situations as scenarios, for reports.
  package static func scenarios(_ situations: [ExtensionSituation], file: String) -> [Scenario] {
    situations.map { Scenario(name: $0.name, file: file, about: $0.about, payloads: []) }
  }

  /// Plays situations one after another: two at a time would make each other slow.
  ///
  /// - Parameters:
  ///   - report: receives each result.
  ///   - began: called when a situation begins.
  package func run(
    _ situations: [ExtensionSituation], file: String, report: (ScenarioResult) -> Void, began: (Scenario) -> Void
  ) async -> [ScenarioResult] {
    var results: [ScenarioResult] = []
    var said: Set<String> = []
    for (situation, scenario) in zip(situations, Self.scenarios(situations, file: file)) where !Task.isCancelled {
      began(scenario)
      var result = ScenarioResult(scenario, depth: .serviceExtension)
      await result.play { result async throws(StageError) in
        let evidence = try await play(situation)
        let findings =
          switch kind {
          case .serviceExtension: ExtensionJudge.findings(situation, evidence)
          case .appDelegate: DelegateJudge.findings(situation, evidence, priority: payload.priority)
          }
        result.findings = findings.filter { isStrict || $0.kind.level == .error }
        (result.timeline, result.lines, result.media) = (evidence.timeline, evidence.lines, evidence.media)
        if kind == .serviceExtension { result.payloads = evidence.outcomes }
        result.warnings = findings.filter { !isStrict && $0.kind.level != .error }
        for note in evidence.notes where note.name == "stand-in" && said.insert(note.text).inserted { say(note.text) }
        if situation.name == situations.first?.name, kind == .serviceExtension, evidence.transfers.isEmpty {
          say("it asked for no media; rehearse it with a payload of your server: --payloads FILE")
        }
      }
      report(result)
      results.append(result)
    }
    return results
  }

  /// Plays one situation.
  package func play(_ situation: ExtensionSituation) async throws(StageError) -> ExtensionEvidence {
    let origin: FaultOrigin
    do throws(OriginError) { origin = try await FaultOrigin.start() } catch { throw .origin(error) }
    for body in situation.bodies { origin.serve(body.path, body.bytes, contentType: body.contentType, faults: body.faults) }
    let closed = try ReservedPort(.refusing)
    let payloads = situation.variants.map { variant in
      (bytes: bytes(variant, origin, closedPort: closed.port), expected: Self.expected(variant, situation))
    }
    // A host that the extension itself names leads to the origin, too: nothing leaves the machine.
    let port = situation.isRefused ? closed.port : origin.port
    let result = await RehearsalThread.attempt(in: nil) { () throws(StageError) in
      try play(situation, payloads, port: port) { for body in situation.bodies { origin.release(body.path) } }
    }
    await origin.stop()
    return try result.get()
  }

  private func bytes(_ variant: ExtensionSituation.Variant, _ origin: FaultOrigin, closedPort: Int) -> [UInt8] {
    switch variant {
    case .media(let path): payload.naming(origin.url(path))
    case .alertText(let path): payload.withAlertText(origin.url(path))
    case .refused(let path): payload.naming("http://127.0.0.1:\(closedPort)\(path)")
    case .plain: payload.plain()
    case .bare: payload.bare()
    case .badURL: payload.naming("ht tp://[not a url")
    case .wrongType: payload.withNumbers()
    case .silent(let path, let hasAlert): payload.silent(path.map { origin.url($0) }, hasAlert: hasAlert)
    }
  }

  /// Returns the bytes of the picture that a payload leads to, if all goes well.
  private static func expected(_ variant: ExtensionSituation.Variant, _ situation: ExtensionSituation) -> [UInt8]? {
    guard case .media(let path) = variant, let body = situation.bodies.first(where: { $0.path == path }) else { return nil }
    return body.faults.isEmpty && body.contentType == "image/jpeg" ? body.bytes : nil
  }

  private func play(
    _ situation: ExtensionSituation, _ payloads: [(bytes: [UInt8], expected: [UInt8]?)], port: Int, release: () -> Void
  ) throws(StageError) -> ExtensionEvidence {
    let folder = try StageFolder()
    defer { folder.remove() }
    do {
      let play = try ExtensionPlay(situation, budget: situation.budget * timeScale)
      let store = try AttachmentStore(AttachmentStore.Configuration(directory: folder["store"]))
      defer { store.shutdown() }
      var configuration = ExtensionProcesses.Configuration(program: program)
      (configuration.memoryLimit, configuration.finishesAnswered) = (memoryLimit, false)
      (configuration.groups, configuration.sharesHome) = (groups, kind == .appDelegate)
      configuration.concurrency = situation.order == .atOnce ? payloads.count : 1
      (configuration.network.allowsHTTP, configuration.network.isPublicOnly) = (true, false)
      configuration.network.connectTo = "::127.0.0.1:\(port)"
      configuration.print = { play.note(output: $0) }
      let processes = try ExtensionProcesses(configuration, observe: { play.observe($0, at: $1) })
      let intake = try AttachmentIntake(
        store: store, limits: MediaLimits(), folder: processes.folder, bundle: ExtensionSources.folder(of: program))
      defer { intake.shutdown() }
      var evidence = play.run(payloads, processes, intake, release: release)
      evidence.filesLeft = Self.filesLeft(in: processes.folder, evidence)
      processes.shutdown()
      evidence.output = play.output
      evidence.keepShown(of: store, in: folder["store"])
      return evidence
    } catch {
      throw .serviceExtension("\(error)")
    }
  }

  /// Returns the files that the extension has left in its folders. Those of URLSession itself, and
  /// those that it attached and that were refused, do not count.
  private static func filesLeft(in folder: ExtensionFolder, _ evidence: ExtensionEvidence) -> [String] {
    let attached = Set(evidence.requests.flatMap(\.attached).map(\.attachment.path.string))
    let places = ["tmp", "Documents", "Library/Caches"].map { "\(folder.home(1))/\($0)" }
    return places.flatMap { place -> [String] in
      let names = (try? FileManager.default.subpathsOfDirectory(atPath: place)) ?? []
      return names.filter { name in
        var isFolder = false
        let isThere = FileManager.default.fileExists(atPath: "\(place)/\(name)", isDirectory: &isFolder)
        return isThere && !isFolder && !attached.contains("\(place)/\(name)") && !name.hasSuffix(".tmp")
      }
    } + mediaInGroups(folder, evidence)
  }

  /// Returns the files in the app groups' folders that are as large as something that was downloaded:
  /// other files are there to be kept.
  private static func mediaInGroups(_ folder: ExtensionFolder, _ evidence: ExtensionEvidence) -> [String] {
    let sizes = Set(evidence.transfers.compactMap { $0.end?.result.bytes })
    return ((try? FileManager.default.subpathsOfDirectory(atPath: folder.groups)) ?? []).filter { name in
      guard let status = try? FileStatus(path: "\(folder.groups)/\(name)"), status.isRegular, status.size > 0 else { return false }
      return sizes.contains(status.size)
    }
  }
}
