internal import NIOCore
internal import NIOHTTP2
internal import NIOPosix
internal import NIOSSL
internal import Synchronization

/// A server on 127.0.0.1 that speaks the protocol of Apple's push service as strictly as Apple
/// documents it, misbehaves as told, and remembers what it was sent.
///
///     let server = try await APNsServer.start(tokens: ProviderTokenCheck()) { request in
///       request.deviceToken.hasPrefix("00") ? .error(410, "Unregistered", timestamp: 1_794_000_000_000) : .delivered
///     }
///     … server.port, server.rootCertificatePEMFile …
///     await server.waitForRequests(count: 1)
///     await server.stop()
public final class APNsServer: Sendable {
  /// One misbehaviour towards every connection.
  public enum Fault: Sendable, Hashable {
    /// Accepts connections, and says nothing.
    case silence
    /// Says nothing once TLS stands.
    case silenceAfterHandshake
    /// Knows HTTP/1.1 alone.
    case http1
    /// Answers the first bytes with others, without TLS.
    case plainGarbage([UInt8])
    /// The same within TLS.
    case garbage([UInt8])
  }

  /// The port it listens on.
  public let port: Int
  /// The PEM file of the root certificate, for `--cacert`; `stop()` removes it.
  public var rootCertificatePEMFile: String { certificates.rootFile }

  /// Makes a client certificate that the server accepts where `tls` is `clientCertificate`; called
  /// once.
  ///
  /// - Returns: a PEM file with the certificate and its key, for `--apns-certificate`; `stop()`
  ///   removes it.
  public func makeClientCertificateFile() throws(OriginError) -> String { try certificates.clientFile() }

  private let ledger: APNsLedger
  private let pipeline: APNsPipeline
  private let certificates: Certificates
  private let group: MultiThreadedEventLoopGroup
  private let listener: Mutex<any Channel>

  private init(_ pipeline: APNsPipeline, _ listener: any Channel, _ certificates: Certificates, _ group: MultiThreadedEventLoopGroup) {
    (self.pipeline, self.certificates, self.group) = (pipeline, certificates, group)
    ledger = pipeline.ledger
    self.listener = Mutex(listener)
    port = listener.localAddress?.port ?? 0
  }

  /// Starts a server; whoever starts it stops it.
  ///
  /// - Parameters:
  ///   - tls: how good its certificate is, and whether it wants one of the client.
  ///   - tokens: whose provider tokens it takes; nil takes requests without any.
  ///   - topics: what may be sent to.
  ///   - maximumStreams: of one connection at a time.
  ///   - fault: what it does to every connection, in the place of everything else.
  ///   - keepsRequests: false for a server that gets many: it counts them, and keeps none.
  ///   - respond: called with each request that breaks no rule, on the thread of its connection.
  public static func start(
    tls: FaultOrigin.TLS = .selfMade(), tokens: ProviderTokenCheck? = nil, topics: Set<String> = ["com.example.app"],
    maximumStreams: Int = 1_000, fault: Fault? = nil, keepsRequests: Bool = true,
    respond: @escaping @Sendable (APNsRequest) -> APNsAnswer = { _ in .delivered }
  ) async throws(OriginError) -> APNsServer {
    guard let certificates = try tls.certificates() else { throw .certificate(reason: "APNs has TLS") }
    let context = try certificates.context(protocols: fault == .http1 ? ["http/1.1"] : ["h2"], for: tls)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let pipeline = APNsPipeline(
      rules: APNsRules(tokens: tokens, topics: topics), ledger: APNsLedger(), tls: context, fault: fault, maximumStreams: maximumStreams,
      keepsRequests: keepsRequests, respond: respond)
    do {
      return APNsServer(pipeline, try await pipeline.listen(port: 0, group: group), certificates, group)
    } catch {
      certificates.remove()
      try? await group.shutdownGracefully()
      throw error
    }
  }

  /// Closes every connection, ends the threads and removes the root's file; those who wait for
  /// events go on.
  public func stop() async {
    ledger.change { $0.isStopped = true }
    try? await group.shutdownGracefully()
    certificates.remove()
  }

  /// Stops listening and resets every connection, as if the server's process were killed; then
  /// listens again on the same port. What was on hold is forgotten.
  public func restart() async throws(OriginError) {
    let old = listener.withLock { $0 }
    try? await old.close().get()
    await resetConnections()
    ledger.change { $0.held = [] }
    let new = try await pipeline.listen(port: port, group: group)
    listener.withLock { $0 = new }
  }

  /// Resets every connection, and comes back when they are closed.
  public func resetConnections() async {
    for channel in ledger.read({ Array($0.open.values) }) {
      channel.eventLoop.execute { ConnectionTap.reset(channel) }
      try? await channel.closeFuture.get()
    }
  }

  /// Says on every connection that no stream above the last one is looked at, and no further one is
  /// taken (GOAWAY).
  ///
  /// - Parameters:
  ///   - lastStream: streams above it are forgotten.
  ///   - reason: what Apple would say in the frame; nil for nothing.
  ///   - closes: whether the connection is closed at once; else it ends with its last stream.
  public func goAway(lastStream: Int, reason: String? = nil, closes: Bool = false) {
    let data = reason.map { ByteBuffer(string: "{\"reason\":\"\($0)\"}") }
    forEachConnection { channel in
      let frame = HTTP2Frame(
        streamID: .rootStream, payload: .goAway(lastStreamID: HTTP2StreamID(lastStream), errorCode: .noError, opaqueData: data))
      let sent = channel.writeAndFlush(frame)
      if closes { sent.whenComplete { _ in channel.close(promise: nil) } }
    }
  }

  /// Reads nothing more on the connections that there are: no request is answered, and no PING.
  public func freeze() async {
    let channels = ledger.read { Array($0.open.values) }
    for channel in channels { try? await channel.setOption(.autoRead, value: false).get() }
  }

  /// Answers what is on hold, now and from now on.
  public func release() {
    let held = ledger.change { state in
      defer { state.held = [] }
      state.isReleased = true
      return state.held
    }
    for body in held { body() }
  }

  private func forEachConnection(_ body: @escaping @Sendable (any Channel) -> Void) {
    for channel in ledger.read({ Array($0.open.values) }) { channel.eventLoop.execute { body(channel) } }
  }

  /// The requests so far, in the order in which they came; those that broke a rule included.
  public var requests: [APNsRequest] { ledger.read(\.requests) }
  /// How many requests came.
  public var requestCount: Int { ledger.read(\.requestCount) }
  /// By `apns-id`, how often it came.
  public var attempts: [String: Int] { ledger.read(\.attempts) }
  /// By `apns-id`, how often 200 was written.
  public var delivered: [String: Int] { ledger.read(\.delivered) }
  /// How many connections were accepted.
  public var connectionCount: Int { ledger.read(\.accepted) }
  /// The most streams that one connection had open at a time.
  public var mostStreams: Int { ledger.read(\.mostStreams) }

  /// Comes back when so many requests have come, or the server has stopped.
  public func waitForRequests(count: Int) async {
    await ledger.wait { $0.requestCount >= count }
  }

  /// Comes back when so many requests are on hold, or the server has stopped.
  public func waitForHeld(count: Int) async {
    await ledger.wait { $0.held.count >= count }
  }

  /// Comes back when so many connections were accepted, or the server has stopped.
  public func waitForConnections(count: Int) async {
    await ledger.wait { $0.accepted >= count }
  }
}
