internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// A web server on 127.0.0.1 that misbehaves as told, and remembers what it was asked.
///
///     let origin = try await FaultOrigin.start()
///     origin.serve("/photo.jpg", bytes, faults: [.stall(afterBytes: 512)])
///     … origin.url("/photo.jpg") …
///     await origin.waitForStalls(count: 1, path: "/photo.jpg")
///     origin.release("/photo.jpg")
///     await origin.stop()
public final class FaultOrigin: Sendable {
  /// The port it listens on.
  public let port: Int
  /// The PEM file of the root certificate, for `--cacert`; nil without TLS. It is removed by
  /// `stop()`.
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

  /// Starts an origin; whoever starts it stops it.
  ///
  /// The soft limit of open files of the process is raised to the hard one: a thousand stalled
  /// connections need as many descriptors. SwiftNIO ignores SIGPIPE from here on, in this process
  /// and in the children that it starts.
  /// - Parameters:
  ///   - port: 0 for one that is free.
  ///   - tls: whether it speaks TLS, and how good its certificate is.
  ///   - http2: whether ALPN offers `h2` before `http/1.1`; without TLS it is HTTP/1.1 alone.
  ///   - folder: a folder whose files are served as `application/octet-stream`, with the faults
  ///     that the path names (`FaultPath`).
  ///   - connectionFault: what it does to every connection, in the place of everything else.
  ///   - threads: how many event loops serve the connections.
  ///   - keepsRequests: false for an origin that runs for long: it counts requests and keeps none.
  ///   - watch: called with each request, on the thread of its connection.
  public static func start(
    port: Int = 0, tls: TLS = .none, http2: Bool = true, folder: String? = nil, connectionFault: ConnectionFault? = nil, threads: Int = 1,
    keepsRequests: Bool = true, watch: (@Sendable (RecordedRequest) -> Void)? = nil
  ) async throws(OriginError) -> FaultOrigin {
    let content = OriginContent(folder: try folder.map { path throws(OriginError) in try OriginFolder(path) })
    let ledger = OriginLedger(keepsRequests: keepsRequests, watch: watch.map(OriginEvent.requests))
    return try await start(content, ledger, port: port, tls: tls, http2: http2, connectionFault: connectionFault, threads: threads)
  }

  /// Starts an origin that tells of everything that happens at it.
  ///
  /// - Parameter socket: one that listens already, to be taken over; nil for a port that is free.
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

  /// Closes every connection, ends the threads and removes the root's file; those who wait for
  /// events go on. Once is enough, twice does no harm.
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

  /// Serves bytes under a path, in the place of what stood there; `times` and `after` count from
  /// its next request.
  /// - Parameters:
  ///   - path: with a leading slash, percent-encoded as the request will have it, without a query.
  ///   - bytes: the body.
  ///   - contentType: what Content-Type says of it.
  ///   - faults: applied in order.
  public func serve(_ path: String, _ bytes: [UInt8], contentType: String = "application/octet-stream", faults: [Fault] = []) {
    content.serve(.body(.init(body: ByteBuffer(bytes: bytes), contentType: contentType, faults: faults)), at: path)
  }

  /// Answers the requests for a path as a script says, in the place of what stood there. An origin
  /// that plays a script reads no faults from paths (``FaultPath``).
  /// - Parameters:
  ///   - path: with a leading slash, percent-encoded as the request will have it, without a query.
  ///   - script: its times are counted from the arrival of the request; placeholders are sent as
  ///     they stand.
  public func serve(_ path: String, script: PathScript) {
    content.serve(.script(script), at: path)
  }

  /// The URL of a path on this origin.
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
