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
  /// Whether one instance serves all notifications of a process, as developers report of some phones.
  package var reusesInstance = false
  /// Whether each notification gets a new process. The home of the processes stays the same.
  package var hasFreshProcesses = false
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
        var findings =
          switch kind {
          case .serviceExtension: ExtensionJudge.findings(situation, evidence, time(of: situation))
          case .appDelegate: DelegateJudge.findings(situation, evidence, time(of: situation), priority: payload.priority)
          }
        // They have words of the extension: names of files, URLs, and what it printed last.
        for index in findings.indices {
          findings[index].message = PrintableText.of(findings[index].message, maximumLength: Self.maximumText)
        }
        result.findings = findings.filter { isStrict || $0.kind.level == .error }
        (result.timeline, result.lines, result.media) = (evidence.timeline(of: kind), evidence.lines, evidence.media)
        if kind == .serviceExtension { result.payloads = evidence.outcomes }
        result.warnings = findings.filter { !isStrict && $0.kind.level != .error }
        for note in evidence.notes where note.name == "stand-in" && said.insert(note.text).inserted { say(note.text) }
        if situation.name == "ok", let notice = notice(about: evidence) { say(notice) }
      }
      report(result)
      results.append(result)
    }
    return results
  }

  /// The most characters of a message.
  static let maximumText = 4_000

  private func time(of situation: ExtensionSituation) -> RehearsedTime {
    RehearsedTime(of: situation, factor: timeScale)
  }

  /// Returns what the author must know if nothing was attached although all went well.
  private func notice(about evidence: ExtensionEvidence) -> String? {
    guard evidence.requests.allSatisfy(\.attached.isEmpty), evidence.deaths.isEmpty else { return nil }
    guard evidence.transfers.isEmpty else { return "it attached nothing in the situation ok, in which the origin sends a picture" }
    return payload.isStandard
      ? "it asked for no media; give a payload of your server with --payloads FILE"
      : "it asked for no media, although the origin has some at every URL of the payload"
  }

  /// Plays one situation.
  package func play(_ situation: ExtensionSituation) async throws(StageError) -> ExtensionEvidence {
    let origin: FaultOrigin
    do throws(OriginError) {
      // HTTP/1.1, so that a connection that ends within a body ends in the same way for every client.
      origin = try await FaultOrigin.start(tls: situation.isPlainHTTP ? .none : .selfMade(), http2: false)
    } catch {
      throw .origin(error)
    }
    for body in situation.bodies { origin.serve(body.path, body.bytes, contentType: body.contentType, faults: body.faults) }
    let closed = try ReservedPort(.refusing)
    let payloads = situation.variants.map { variant in
      (bytes: bytes(variant, origin, closedPort: closed.port), expected: Self.expected(variant, situation))
    }
    // A host that the extension itself names leads to the origin, too: nothing leaves the machine.
    var network = ExtensionNetwork()
    (network.allowsHTTP, network.isPublicOnly, network.isLoopbackOnly) = (true, false, true)
    (network.hasTransportSecurity, network.timeScale) = (true, time(of: situation).scale)
    network.connectTo = "::127.0.0.1:\(situation.isRefused ? closed.port : origin.port)"
    network.rootCertificates = origin.rootCertificatePEMFile
    let result = await RehearsalThread.attempt(in: nil) { [network] () throws(StageError) in
      try play(situation, payloads, network) { for body in situation.bodies { origin.release(body.path) } }
    }
    await origin.stop()
    var evidence = try result.get()
    if case .plainHTTP(let path)? = situation.variants.first, !payload.namesHTTP { evidence.rehearsedHTTP = plainURL(path) }
    return evidence
  }

  /// A URL whose host leads to the origin. App Transport Security allows plain http with an address,
  /// so the host has a name: that of the payload, which the bundle may have an exception for.
  private func plainURL(_ path: String) -> String {
    "http://\(payload.host ?? "media.example.com")\(path)"
  }

  private func bytes(_ variant: ExtensionSituation.Variant, _ origin: FaultOrigin, closedPort: Int) -> [UInt8] {
    switch variant {
    case .media(let path): payload.naming(origin.url(path))
    case .alertText(let path): payload.withAlertText(origin.url(path))
    case .refused(let path): payload.naming("https://127.0.0.1:\(closedPort)\(path)")
    case .plainHTTP(let path): payload.naming(plainURL(path))
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
    _ situation: ExtensionSituation, _ payloads: [(bytes: [UInt8], expected: [UInt8]?)], _ network: ExtensionNetwork, release: () -> Void
  ) throws(StageError) -> ExtensionEvidence {
    let folder = try StageFolder()
    defer { folder.remove() }
    do {
      let play = try ExtensionPlay(situation, budget: time(of: situation).budget)
      let store = try AttachmentStore(AttachmentStore.Configuration(directory: folder["store"]))
      defer { store.shutdown() }
      var configuration = ExtensionProcesses.Configuration(program: program)
      (configuration.memoryLimit, configuration.finishesAnswered) = (memoryLimit, false)
      (configuration.groups, configuration.sharesHome, configuration.network) = (groups, true, network)
      configuration.reusesInstance = reusesInstance
      let atOnce = situation.order == .atOnce ? payloads.count : 1
      (configuration.processes, configuration.concurrency) = hasFreshProcesses ? (atOnce, 1) : (1, atOnce)
      configuration.print = { play.note(output: $0) }
      let processes = try ExtensionProcesses(configuration, observe: { play.observe($0, at: $1) })
      let intake = try AttachmentIntake(
        store: store, limits: MediaLimits(), folder: processes.folder, bundle: ExtensionSources.folder(of: program))
      defer { intake.shutdown() }
      var evidence = play.run(payloads, processes, intake, isFresh: hasFreshProcesses, release: release)
      // An instance that serves all notifications is to exist after its answer.
      if reusesInstance { for index in evidence.requests.indices { evidence.requests[index].isAlive = false } }
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
