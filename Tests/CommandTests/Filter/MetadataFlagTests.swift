import Attache
import AttacheTesting
import Testing

/// No flag allows the metadata addresses of clouds.
@Suite(.timeLimit(.minutes(2)))
struct MetadataFlagTests {
  private static let addresses = [
    "169.254.169.254", "169.254.169.123", "169.254.170.2", "169.254.170.23", "100.100.100.200", "192.0.0.192", "168.63.129.16",
    "fd00:ec2::254", "fd20:ce::254", "fe80::a9fe:a9fe",
  ]
  /// Forms of IPv6 that embed 169.254.169.254: mapped, compatible, translated, NAT64 under both
  /// prefixes, 6to4, Teredo, ISATAP.
  private static let embedded = [
    "::ffff:169.254.169.254", "::169.254.169.254", "::ffff:0:169.254.169.254", "64:ff9b::169.254.169.254", "64:ff9b:1::169.254.169.254",
    "2002:a9fe:a9fe::1", "2001:0:a9fe:a9fe::1", "2606:4700::5efe:169.254.169.254", "2001:67c:2b0:db32:0:1:169.254.169.254",
  ]
  private static let targets = (addresses + embedded).enumerated().map { (name: "m\($0).example", address: $1) }

  /// For each flag that could allow something, its most permissive values. The rehearsal sets
  /// `--allow-http` itself.
  private static let opening: [String: [String]] = [
    "--allow-net": ["0.0.0.0/0", "::/0"] + targets.map(\.address), "--allow-port": ["1-65535"],
    "--allow-host": targets.map(\.name) + targets.map(\.address) + ["hop.example", "metadata.google.internal"],
    "--media-key": ["picture"], "--cache": ["off"], "--retries": ["0"], "--per-host": ["1"], "--allow-http": [],
  ]

  /// The flags that do not affect where media comes from, and those that have a test of their own.
  private static let others: Set<String> = [
    "--deadline", "--grace", "--on-expiry", "--jobs", "--window", "--unordered", "--max-attachments", "--payload-path", "--output-key",
    "--base-url", "--attach-as", "--max-payload", "--fit-payload", "--deny-host", "--limits", "--store", "--store-max", "--store-age",
    "--report",
    "--report-key",
    "--strict", "--progress", "--log-format", "--log-urls", "--max-pixels", "--convert", "--max-side", "--source-limits",
    "--max-source-pixels", "--fetchers", "--proxy", "--dialect", "--dialects", "--strict-dialects",
    "--apply-overrides", "--cacert", "--user-agent", "--header-file", "--dns-server",
    "--metrics", "--metrics-bearer-file",
    "--upload", "--upload-endpoint", "--upload-region", "--upload-credentials", "--upload-keep", "--upload-private",
    // An extension has a gate of its own (`ExtensionMetadataTests`).
    "--extension", "--extension-concurrency", "--extension-processes", "--extension-memory", "--extension-groups",
    "--extension-loopback",
  ]

  @Test func `each flag that could open something is tried`() {
    #expect(Set(Self.opening.keys) == Set(EngineFlag.all.filter { $0.traits.contains(.opens) }.map(\.name)))
  }

  @Test func `each flag of the filter opens nothing, or is tried`() {
    let flags = Set(EngineFlag.all.filter { $0.commands.contains(.filter) }.map(\.name))
    #expect(
      flags.subtracting(Self.opening.keys).subtracting(Self.others).isEmpty,
      "could it lead to cloud metadata? put it into one of the lists of this test")
  }

  @Test func `no flag opens an address of cloud metadata, as literal, as name or inside another form`() async throws {
    var urls: [String] = []
    for (name, address) in Self.targets {
      let host = address.contains(":") ? "[\(address)]" : address
      urls += ["http://\(host)/latest/meta-data/", "http://\(host):8080/", "http://\(name)/"]
    }
    urls += ["http://2852039166/", "http://0xa9fea9fe/", "http://metadata.google.internal/"]
    var scenario = try Self.scenario(urls)
    scenario.expectation.payloads = [.init(outcome: .fallback, reason: .policyAddress)]
    scenario.expectation.connections = 0
    try await Self.expectNoFindings(scenario)
  }

  @Test func `no flag lets a redirect lead there`() async throws {
    var scenario = try Self.scenario(Self.targets.indices.map { "http://hop.example/\($0)" })
    var origin = OriginScript()
    for (index, target) in Self.targets.enumerated() {
      let host = target.address.contains(":") ? "[\(target.address)]" : target.address
      let place = index % 2 == 0 ? host : target.name
      origin.paths["/\(index)"] = PathScript(responses: [[OriginStep(.redirect("http://\(place)/latest/meta-data/"))]])
      scenario.expectation.requests["/\(index)"] = 1
    }
    scenario.origins["origin"] = origin
    scenario.expectation.payloads = [.init(outcome: .fallback, reason: .policyRedirect)]
    // The connection to the origin that redirects.
    scenario.expectation.connections = 1
    try await Self.expectNoFindings(scenario)
  }

  private static func scenario(_ urls: [String]) throws -> Scenario {
    let payloads = urls.map { #"{"aps":{"alert":"Hello","mutable-content":1},"picture":"\#($0)"}"# }
    var scenario = Scenario(name: "metadata", file: "metadata.yaml", payloads: payloads)
    scenario.network = .isolated
    scenario.deadline = .seconds(10)
    scenario.flags = opening.sorted { $0.key < $1.key }.flatMap { flag, values in values.flatMap { [flag, $0] } }
    for (name, address) in targets { scenario.names[name] = NameScript([.init(.addresses([try #require(IPAddress(address))]))]) }
    scenario.names["metadata.google.internal"] = NameScript([.init(.addresses([.v4(0xA9FE_A9FE)]))])
    scenario.names["hop.example"] = NameScript([.init(.addresses([.v4(0x5DB8_D822)]))])
    return scenario
  }

  private static func expectNoFindings(_ scenario: Scenario) async throws {
    var rehearsal = CommandRehearsal("\(AttacheTool.folder)/attache $REHEARSAL_FLAGS")
    rehearsal.demand = .all
    let result = await rehearsal.run(scenario)
    if let reason = result.skipped { try Test.cancel("\(reason)") }
    #expect(result.findings == [])
  }
}
