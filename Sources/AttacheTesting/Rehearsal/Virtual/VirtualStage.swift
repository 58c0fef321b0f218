internal import Attache
internal import Glibc

/// The environment of a scenario on a simulated machine: its origins and names are scripts, its
/// disk and its store are real.
final class VirtualStage: Sendable {
  /// attache is given a name server, as in every rehearsal, but never queries it.
  private static let nameServer = "127.0.0.1:53"

  let scenario: Scenario
  let input: [[UInt8]]
  let configuration: EngineConfiguration
  let simulation: Simulation
  let timeline: Timeline
  let network: ScriptedNetwork
  let output: VirtualOutput
  /// The input of the filter. It stays open after its last line if the filter will be stopped.
  let source = SimulatedInput()
  private let folder: StageFolder
  private let disk: ScenarioDisk?
  private let ledger: StageLedger

  init(_ scenario: Scenario, seed: UInt64) throws(StageError) {
    folder = try StageFolder()
    disk = try scenario.disk.map { [folder] script throws(StageError) in try ScenarioDisk(script, at: folder["store"]) }
    output = try VirtualOutput(at: folder["output"])
    let simulation = Simulation(seed: seed, horizon: Self.horizon(of: scenario), input: source) { [output] in output.look(at: $0) }
    self.simulation = simulation
    timeline = Timeline { simulation.now }
    ledger = StageLedger(timeline: timeline, disk: disk) { _ in }
    network = ScriptedNetwork(scenario.origins, ledger: ledger)
    let placeholders = Placeholders(origins: network.addresses)
    self.scenario = placeholders.filled(scenario)
    input = placeholders.lines(of: scenario)
    configuration = try self.scenario.configuration(
      .init(store: folder["store"], report: folder["report"], nameServer: Self.nameServer, credentials: folder["credentials"]))
    network.serve(self.scenario.origins)
    var text = Array(input.map { $0 + [UInt8(ascii: "\n")] }.joined())
    if !scenario.endsWithLineFeed { _ = text.popLast() }
    try folder.write(text, to: "input")
  }

  /// The failure of the environment itself; nil when there was none.
  var failure: StageError? { ledger.failure }

  /// Returns what the stage and the output show. Call it while the store still exists.
  func evidence() -> Evidence {
    var evidence = Evidence(input: input, endsWithLineFeed: scenario.endsWithLineFeed, filter: configuration.filter)
    output.look(at: simulation.now)
    evidence.output = output.bytes
    evidence.arrivals = output.arrivals.map { timeline.start.duration(to: $0) }
    evidence.collectFiles()
    evidence.readReport(folder.bytes("report"))
    (evidence.requests, evidence.fields) = (ledger.requests, ledger.fields)
    (evidence.connections, evidence.namesAsked) = (network.connections, ledger.namesAsked)
    evidence.timeline = timeline.events
    return evidence
  }

  /// The network of the filter's fetcher.
  var fetchNetwork: FetchNetwork {
    FetchNetwork(machine: simulation) { [network] in
      ScriptedTransport(loop: $0, network: network)
    } resolver: { [scenario, timeline, ledger] in
      ScriptedResolver(loop: $0, names: scenario.names, timeline: timeline) { ledger.noteName($0) }
    }
  }

  func openInput() throws(StageError) -> Int32 {
    let descriptor = unsafe open(folder["input"], O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(call: "open", errno: errno) }
    return descriptor
  }

  func takeDown() {
    disk?.unmount()
    folder.remove()
  }

  /// Returns twice the time of all payloads one after another, with a margin.
  private static func horizon(of scenario: Scenario) -> Duration {
    scenario.deadline * (scenario.payloads.count + 1) * 2 + (scenario.stop?.at ?? .zero) + .seconds(60)
  }
}
