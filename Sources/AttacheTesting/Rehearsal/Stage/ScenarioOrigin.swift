internal import Attache
internal import Synchronization

/// A running origin of a scenario.
final class ScenarioOrigin: Sendable {
  private enum Server {
    case fault(FaultOrigin)
    case nobody(ReservedPort)
    /// In the scenario's own network, where nothing else can listen at the port.
    case nothing(port: Int)
  }

  /// The address given for an origin that listens at all addresses: a public one.
  private static let publicAddress = IPAddress.v4(0x5DB8_D822)

  let script: OriginScript
  private let server: Server
  private let host: String

  /// - Parameters:
  ///   - names: the names of a good certificate in addition to the loopback addresses, unless the
  ///     script sets its own.
  ///   - network: the network in which it listens; nil for loopback.
  ///   - watch: called with each event at the origin.
  init(
    _ script: OriginScript, names: [String], in network: NetworkNamespace? = nil, watch: @escaping @Sendable (OriginEvent) -> Void
  ) async throws(StageError) {
    self.script = script
    host = network == nil ? "127.0.0.1" : (script.listening?.address ?? Self.publicAddress).inBrackets
    switch script.connection {
    case .refused: server = network == nil ? .nobody(try ReservedPort(.refusing)) : .nothing(port: Int(script.port))
    case .dropped: server = .nobody(try await Self.drop(script, network))
    case .reset: server = .fault(try await Self.start(script, names, network, fault: .reset, watch))
    case .silent: server = .fault(try await Self.start(script, names, network, fault: .silence, watch))
    case nil: server = .fault(try await Self.start(script, names, network, fault: script.connectionFault, watch))
    }
  }

  private static func drop(_ script: OriginScript, _ network: NetworkNamespace?) async throws(StageError) -> ReservedPort {
    guard let network else { return try ReservedPort(.dropping) }
    let result = await RehearsalThread.attempt(in: network) { () throws(StageError) in
      try ReservedPort(.dropping, at: script.listening?.address ?? publicAddress, port: script.port)
    }
    return try result.get()
  }

  private static func start(
    _ script: OriginScript, _ names: [String], _ network: NetworkNamespace?, fault: ConnectionFault?,
    _ watch: @escaping @Sendable (OriginEvent) -> Void
  ) async throws(StageError) -> FaultOrigin {
    let socket = try await network?.bind(.connections, at: script.listening?.address, port: script.port)
    do {
      return try await FaultOrigin.start(
        tls: script.certificate(names), http2: script.offersHTTP2, connectionFault: fault, socket: socket?.descriptor, watch: watch)
    } catch {
      throw .origin(error)
    }
  }

  var address: Placeholders.Address {
    Placeholders.Address(scheme: script.tls == nil ? "http" : "https", host: host, port: port)
  }

  /// The connections that the origin opened itself.
  var ownAttempts: Set<ConnectionCanary.Attempt> {
    if case .nobody(let port) = server { port.ownAttempts } else { [] }
  }

  private var port: Int {
    switch server {
    case .fault(let origin): origin.port
    case .nobody(let port): port.port
    case .nothing(let port): port
    }
  }

  private var fault: FaultOrigin? {
    if case .fault(let origin) = server { origin } else { nil }
  }

  /// The root certificate that attache should trust; nil when there is none or attache should not
  /// trust it.
  var rootFile: String? { script.tls == .untrusted ? nil : fault?.rootCertificatePEMFile }

  /// The number of connections so far.
  var connections: Int { fault?.connectionCount ?? 0 }

  /// The number of connections that are open now.
  var openConnections: Int { fault?.openConnections ?? 0 }

  /// Registers the paths. Their placeholders must be filled in.
  func serve(_ paths: [String: PathScript]) {
    guard let origin = fault else { return }
    for (path, script) in paths { origin.serve(path, script: script) }
    // Registers a script even without paths, so that a path is not parsed as a fault path.
    if paths.isEmpty { origin.serve("/", script: PathScript(responses: [])) }
  }

  func stop() async {
    await fault?.stop()
  }
}

extension OriginScript {
  /// The port in the scenario's own network.
  fileprivate var port: UInt16 { listening?.port ?? (tls == nil ? 80 : 443) }

  fileprivate func certificate(_ names: [String]) -> FaultOrigin.TLS {
    let own = certificateNames.isEmpty ? names : certificateNames
    return switch tls {
    case nil, .stalled: .none
    case .good where !certificateNames.isEmpty: .named(certificateNames)
    case .good, .untrusted, .nullCipher, .shortKey, .dripped, .falseProtocol: .selfMade(names: names)
    case .expired: .expired
    case .notYetValid: .notYetValid
    case .selfSigned: .selfSigned
    case .withoutIntermediate: .withoutIntermediate
    case .wrongHost: .misnamed("another.example")
    case .commonName: .commonName(own.first ?? "localhost")
    case .byName: .byName(own)
    case .manyNames: .manyNames
    case .longChain: .longChain
    case .clientCertificate: .clientCertificate
    case .version11: .version11
    }
  }

  fileprivate var connectionFault: ConnectionFault? {
    switch tls {
    case .stalled: .silence
    case .nullCipher: .nullCipher
    case .shortKey: .shortKey
    case .dripped: .drip(bytes: 1, every: .milliseconds(100))
    case .longChain: .drip(bytes: 2_000, every: .milliseconds(100))
    case .falseProtocol: .falseProtocol
    case nil, .good, .expired, .wrongHost, .untrusted, .notYetValid, .selfSigned, .withoutIntermediate, .commonName, .byName, .manyNames,
      .clientCertificate, .version11:
      nil
    }
  }
}

extension IPAddress {
  /// The address as in a URL.
  fileprivate var inBrackets: String {
    if case .v6 = self { "[\(self)]" } else { "\(self)" }
  }
}
