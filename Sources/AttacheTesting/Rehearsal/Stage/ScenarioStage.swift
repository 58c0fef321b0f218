package import Attache

/// The environment of a scenario for one run: its origins, its name server, its disk, and a folder
/// for store and report. The creator must call ``takeDown()``.
package final class ScenarioStage: Sendable {
  /// The scenario with the placeholders of its origins and its flags filled in.
  package let scenario: Scenario
  /// The lines of input, with placeholders filled in and without line endings.
  package let input: [[UInt8]]
  /// The address of each origin.
  package let addresses: [String: Placeholders.Address]
  /// The name server in the form that `--dns-server` takes.
  package let nameServer: String
  /// The file for `--cacert`; nil when no origin uses TLS.
  package let rootCertificates: String?
  /// The configuration with which attache plays the scenario in this process.
  package let configuration: EngineConfiguration
  /// The events. Its start is set when the payloads are written.
  package let timeline: Timeline

  /// The scenario's own network; nil for this machine's loopback.
  let network: NetworkNamespace?
  private let canary: ConnectionCanary?
  private let folder: StageFolder
  private let disk: ScenarioDisk?
  private let origins: [String: ScenarioOrigin]
  private let dns: StubDNS
  private let ledger: StageLedger

  /// The folder of attachments.
  package var store: String { folder["store"] }
  package var report: String { folder["report.ndjson"] }
  /// The path of a queue.
  var queue: String { folder["queue"] }
  /// All flags for attache as a command, with the scenario's own flags last.
  var flags: [String] {
    scenario.commandFlags(
      .init(
        store: store, report: report, rootCertificates: rootCertificates, nameServer: nameServer, credentials: folder["credentials"]))
  }

  /// Sets up a scenario's environment.
  ///
  /// - Parameter watch: called with each event, on the threads of the servers.
  /// - Throws: ``StageError``; ``StageError/unavailable(_:)`` means that the scenario cannot be
  ///   played here.
  package init(_ scenario: Scenario, watch: @escaping @Sendable (StageEvent) -> Void = { _ in }) async throws(StageError) {
    timeline = Timeline()
    folder = try StageFolder()
    if scenario.uploads { try folder.writeCredentials() }
    network = try await Self.makeNetwork(scenario, folder)
    disk = try scenario.disk.map { [folder] script throws(StageError) in try ScenarioDisk(script, at: folder["store"]) }
    ledger = StageLedger(timeline: timeline, disk: disk, watch: watch)
    origins = try await Self.start(scenario, ledger, network)
    do {
      dns = try await Self.startNameServer(scenario, timeline, network)
      canary = try await Self.makeCanary(
        network, nameServer: dns.address, ownAttempts: origins.values.reduce(into: []) { $0.formUnion($1.ownAttempts) })
      nameServer = dns.address
      addresses = origins.mapValues(\.address)
      rootCertificates = try Self.gatherRoots(origins.values, in: folder)
      let placeholders = Placeholders(origins: addresses)
      let filled = placeholders.filled(scenario)
      for (name, origin) in origins { origin.serve(filled.origins[name]?.paths ?? [:]) }
      self.scenario = filled
      input = placeholders.lines(of: scenario)
      configuration = try filled.configuration(
        .init(
          store: folder["store"], report: folder["report.ndjson"], rootCertificates: rootCertificates, nameServer: nameServer,
          credentials: folder["credentials"]))
    } catch {
      for origin in origins.values { await origin.stop() }
      disk?.unmount()
      throw error
    }
  }

  /// Adds what the stage saw to the evidence of a run. Call it while the store still exists.
  func complete(_ evidence: inout Evidence) {
    evidence.collectFiles()
    evidence.readReport(folder.bytes("report.ndjson"))
    (evidence.requests, evidence.fields) = (ledger.requests, ledger.fields)
    // In the scenario's own network, connections are attempts to any address.
    evidence.connections = canary?.attempts.count ?? origins.values.reduce(0) { $0 + $1.connections }
    evidence.destinations = canary?.attempts.map(\.description) ?? []
    evidence.namesAsked = Set(dns.queries.map(\.question.name))
    evidence.timeline = timeline.events
  }

  /// The number of origins' connections that are open now.
  package var openConnections: Int { origins.values.reduce(0) { $0 + $1.openConnections } }

  /// Records that the engine tried to connect beyond loopback.
  func note(beyondLoopback address: IPAddress, port: UInt16) {
    ledger.fail(.beyondLoopback("\(address), port \(port)"))
  }

  /// The failure of the stage itself during the run; nil when there was none.
  package var failure: StageError? { ledger.failure }

  /// Stops the servers, unmounts the disk and removes the folder.
  package func takeDown() async {
    for origin in origins.values { await origin.stop() }
    await dns.stop()
    disk?.unmount()
    folder.remove()
  }
}

extension ScenarioStage {
  private static func makeNetwork(_ scenario: Scenario, _ folder: StageFolder) async throws(StageError) -> NetworkNamespace? {
    guard scenario.network != .loopback else { return nil }
    return try await NetworkNamespace(hasIPv6: scenario.network == .isolated, files: scenario.files, folder: folder)
  }

  private static func makeCanary(
    _ network: NetworkNamespace?, nameServer: String, ownAttempts: Set<ConnectionCanary.Attempt>
  ) async throws(StageError) -> ConnectionCanary? {
    guard let network else { return nil }
    let port = UInt16(nameServer.split(separator: ":").last ?? "") ?? 0
    let result = await RehearsalThread.attempt(in: network) { () throws(StageError) in
      try ConnectionCanary(server: port, ignored: ownAttempts)
    }
    return try result.get()
  }

  private static func start(
    _ scenario: Scenario, _ ledger: StageLedger, _ network: NetworkNamespace?
  ) async throws(StageError) -> [String: ScenarioOrigin] {
    var origins: [String: ScenarioOrigin] = [:]
    do {
      for (name, script) in scenario.origins {
        origins[name] = try await ScenarioOrigin(script, names: scenario.names.keys.sorted(), in: network) { event in
          ledger.note(event, at: name, script)
        }
      }
    } catch {
      for origin in origins.values { await origin.stop() }
      throw error
    }
    return origins
  }

  private static func startNameServer(
    _ scenario: Scenario, _ timeline: Timeline, _ network: NetworkNamespace?
  ) async throws(StageError) -> StubDNS {
    var sockets: (udp: Int32, tcp: Int32?)?
    if let network {
      let home = IPAddress.v4(0x7F00_0001)
      let datagrams = try await network.bind(.datagrams, at: home, port: 0)
      let refusesTCP = scenario.names.values.contains(where: \.refusesTCP)
      let listener = refusesTCP ? nil : try await network.bind(.connections, at: home, port: UInt16(datagrams.port))
      sockets = (datagrams.descriptor, listener?.descriptor)
    }
    do {
      return try await StubDNS(scenario.names.mapValues(StubDNS.Answer.init), others: .noSuchName, sockets: sockets) { timeline.note($0) }
    } catch {
      throw .dns("\(error)")
    }
  }

  /// Writes a file with the roots of all trusted origins. If there is none, the file contains a
  /// root that signed no origin's certificate.
  private static func gatherRoots(
    _ origins: some Collection<ScenarioOrigin>, in folder: StageFolder
  ) throws(StageError) -> String? {
    guard origins.contains(where: { $0.script.tls != nil }) else { return nil }
    var roots = origins.compactMap { $0.rootFile.flatMap { StageFolder.bytes(at: $0) } }
    if roots.isEmpty {
      do {
        let stranger = try Certificates(LeafForm(names: ["another.example"]))
        roots = StageFolder.bytes(at: stranger.rootFile).map { [$0] } ?? []
        stranger.remove()
      } catch {
        throw .origin(error)
      }
    }
    try folder.write(roots.joined(separator: "\n".utf8).map { $0 }, to: "roots.pem")
    return folder["roots.pem"]
  }
}
