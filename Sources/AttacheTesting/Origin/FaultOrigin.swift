internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// A web server on 127.0.0.1 that misbehaves as configured and records the requests it receives.
///
///     let origin = try await FaultOrigin.start()
///     origin.serve("/photo.jpg", bytes, faults: [.stall(afterBytes: 512)])
///     … origin.url("/photo.jpg") …
///     await origin.waitForStalls(count: 1, path: "/photo.jpg")
///     origin.release("/photo.jpg")
///     await origin.stop()
public final class FaultOrigin: Sendable {
  /// The port that the origin listens on.
  public let port: Int
  /// The path of the root certificate's PEM file, for `--cacert`; nil without TLS. `stop()` removes
  /// the file.
  public var rootCertificatePEMFile: String? { certificates?.rootFile }

  let ledger: OriginLedger
  private let content: OriginContent
  private let certificates: Certificates?
  private let group: MultiThreadedEventLoopGroup
  private let listener: any Channel
  private let isStopped = Mutex(false)

  private init(
    listener: any Channel, group: MultiThreadedEventLoopGroup, content: OriginContent, ledger: OriginLedger, certificates: Certificates?
  ) {
    self.listener = listener
    self.group = group
    self.content = content
    self.ledger = ledger
    self.certificates = certificates
    port = listener.localAddress?.port ?? 0
  }

  /// Starts an origin. The caller must stop it.
  ///
  /// Raises the process's soft limit of open files to the hard limit, because a thousand stalled
  /// connections need as many descriptors. From now on, SwiftNIO ignores SIGPIPE in this process
  /// and in the children that it starts.
  /// - Parameters:
  ///   - port: 0 for a free port.
  ///   - tls: whether the origin uses TLS, and the quality of its certificate.
  ///   - http2: whether ALPN offers `h2` before `http/1.1`. Without TLS, the origin supports
  ///     HTTP/1.1 only.
  ///   - folder: a folder whose files are served as `application/octet-stream`, with the faults
  ///     that the path names (`FaultPath`).
  ///   - connectionFault: the fault for every connection, instead of all other behavior.
  ///   - threads: the number of event loops that serve connections.
  ///   - keepsRequests: false for a long-running origin: it counts requests and keeps none.
  ///   - watch: called with each request, on the thread of its connection.
  /// - Throws: ``OriginError`` when the folder, the certificate or the port cannot be used.
  public static func start(
    port: Int = 0, tls: TLS = .none, http2: Bool = true, folder: String? = nil, connectionFault: ConnectionFault? = nil, threads: Int = 1,
    keepsRequests: Bool = true, watch: (@Sendable (RecordedRequest) -> Void)? = nil
  ) async throws(OriginError) -> FaultOrigin {
    let content = OriginContent(folder: try folder.map { path throws(OriginError) in try OriginFolder(path) })
    let ledger = OriginLedger(keepsRequests: keepsRequests, watch: watch.map(OriginEvent.requests))
    return try await start(content, ledger, port: port, tls: tls, http2: http2, connectionFault: connectionFault, threads: threads)
  }

  /// Starts an origin that reports all its events.
  ///
  /// - Parameter socket: a listening socket to take over; nil for a free port.
  package static func start(
    tls: TLS, http2: Bool, connectionFault: ConnectionFault?, socket: Int32? = nil, watch: @escaping @Sendable (OriginEvent) -> Void
  ) async throws(OriginError) -> FaultOrigin {
    let ledger = OriginLedger(keepsRequests: false, watch: watch)
    return try await start(
      OriginContent(folder: nil), ledger, port: 0, socket: socket, tls: tls, http2: http2, connectionFault: connectionFault, threads: 1)
  }

  private static func start(
    _ content: OriginContent, _ ledger: OriginLedger, port: Int, socket: Int32? = nil, tls: TLS, http2: Bool,
    connectionFault: ConnectionFault?, threads: Int
  ) async throws(OriginError) -> FaultOrigin {
    raiseLimitOfOpenFiles()
    let certificates = try tls.certificates()
    let context = try certificates?.context(protocols: http2 ? ["h2", "http/1.1"] : ["http/1.1"], for: tls)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
    let server = OriginServer(
      content: content, ledger: ledger, tls: context, fault: connectionFault, flight: try certificates?.flight(for: connectionFault))
    do {
      let listener = try await server.listen(port: port, socket: socket, group: group)
      return FaultOrigin(listener: listener, group: group, content: content, ledger: ledger, certificates: certificates)
    } catch {
      certificates?.remove()
      try? await group.shutdownGracefully()
      throw error
    }
  }

  /// Closes all connections, stops the threads and removes the root certificate's file. Waiters for
  /// events resume. A second call does nothing.
  public func stop() async {
    let isFirst = isStopped.withLock { stopped in
      defer { stopped = true }
      return !stopped
    }
    guard isFirst else { return }
    ledger.stop()
    try? await group.shutdownGracefully()
    certificates?.remove()
  }

  /// Serves bytes under a path and replaces what was registered there. `times` and `after` count
  /// from the next request.
  /// - Parameters:
  ///   - path: with a leading slash, percent-encoded as in the request, without a query.
  ///   - bytes: the body.
  ///   - contentType: the value of Content-Type.
  ///   - faults: applied in order.
  public func serve(_ path: String, _ bytes: [UInt8], contentType: String = "application/octet-stream", faults: [Fault] = []) {
    content.serve(.body(FaultyBody(bytes: bytes, contentType: contentType, faults: faults)), at: path)
  }

  /// Answers the requests for a path from a script and replaces what was registered there. An
  /// origin that plays a script reads no faults from paths (``FaultPath``).
  /// - Parameters:
  ///   - path: with a leading slash, percent-encoded as in the request, without a query.
  ///   - script: the steps; its times count from the arrival of the request. Placeholders are sent
  ///     unchanged.
  public func serve(_ path: String, script: PathScript) {
    content.serve(.script(script), at: path)
  }

  /// Returns the URL of a path on this origin.
  ///
  /// - Parameters:
  ///   - path: with a leading slash; empty for the origin itself.
  ///   - host: another name for 127.0.0.1.
  public func url(_ path: String, host: String = "127.0.0.1") -> String {
    "\(certificates == nil ? "http" : "https")://\(host):\(port)\(path)"
  }

  private static func raiseLimitOfOpenFiles() {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = limit.rlim_max
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
