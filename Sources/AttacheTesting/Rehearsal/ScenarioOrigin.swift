internal import Synchronization

/// One origin of a scenario, running.
final class ScenarioOrigin: Sendable {
  private enum Server {
    case fault(FaultOrigin)
    case nobody(ReservedPort)
  }

  let script: OriginScript
  private let server: Server

  /// - Parameters:
  ///   - names: what a good certificate is for besides the addresses of loopback.
  ///   - watch: told of everything that happens at the origin.
  init(_ script: OriginScript, names: [String], watch: @escaping @Sendable (OriginEvent) -> Void) async throws(StageError) {
    self.script = script
    switch script.connection {
    case .refused: server = .nobody(try ReservedPort(.refusing))
    case .dropped: server = .nobody(try ReservedPort(.dropping))
    case .reset: server = .fault(try await Self.start(script, names, fault: .reset, watch))
    case .silent: server = .fault(try await Self.start(script, names, fault: .silence, watch))
    case nil: server = .fault(try await Self.start(script, names, fault: script.tls == .stalled ? .silence : nil, watch))
    }
  }

  private static func start(
    _ script: OriginScript, _ names: [String], fault: ConnectionFault?, _ watch: @escaping @Sendable (OriginEvent) -> Void
  ) async throws(StageError) -> FaultOrigin {
    do {
      return try await FaultOrigin.start(
        tls: script.certificate(names), http2: script.offersHTTP2, connectionFault: fault, watch: watch)
    } catch {
      throw .origin(error)
    }
  }

  var address: Placeholders.Address {
    Placeholders.Address(scheme: script.tls == nil ? "http" : "https", port: port)
  }

  private var port: Int {
    switch server {
    case .fault(let origin): origin.port
    case .nobody(let port): port.port
    }
  }

  /// The root that attache is to trust; nil when there is none, or it is not to know it.
  var rootFile: String? {
    guard case .fault(let origin) = server, script.tls != .untrusted else { return nil }
    return origin.rootCertificatePEMFile
  }

  /// Connections so far.
  var connections: Int {
    guard case .fault(let origin) = server else { return 0 }
    return origin.connectionCount
  }

  /// Connections that are open now.
  var openConnections: Int {
    guard case .fault(let origin) = server else { return 0 }
    return origin.openConnections
  }

  /// Puts the paths up; their placeholders are filled in.
  func serve(_ paths: [String: PathScript]) {
    guard case .fault(let origin) = server else { return }
    for (path, script) in paths { origin.serve(path, script: script) }
    // A path that no script names must not be taken for a fault's.
    if paths.isEmpty { origin.serve("/", script: PathScript(responses: [])) }
  }

  func stop() async {
    guard case .fault(let origin) = server else { return }
    await origin.stop()
  }
}

extension OriginScript {
  fileprivate func certificate(_ names: [String]) -> FaultOrigin.TLS {
    switch tls {
    case nil, .stalled: .none
    case .good, .untrusted: .selfMade(names: names)
    case .expired: .expired
    case .wrongHost: .misnamed("another.example")
    }
  }
}
