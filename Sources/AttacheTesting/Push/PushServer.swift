internal import NIOCore
internal import NIOHTTP2
internal import NIOPosix
internal import NIOSSL
internal import Synchronization

/// A server on 127.0.0.1 that implements the protocol of Apple's or Google's push service as strictly
/// as it is documented. It misbehaves as configured and records the requests it receives.
///
///     let server = try await PushServer.startAPNs(tokens: ProviderTokenCheck()) { request in
///       request.deviceToken.hasPrefix("00") ? .error(410, "Unregistered", timestamp: 1_794_000_000_000) : .delivered
///     }
///     … server.port, server.rootCertificatePEMFile …
///     await server.waitForRequests(count: 1)
///     await server.stop()
///
/// ``startFCM(account:port:tls:keys:maximumStreams:keepsRequests:fault:respond:watch:)`` starts Google's.
public final class PushServer: Sendable {
  /// A fault that applies to every connection.
  public enum Fault: Sendable, Hashable {
    /// Accepts connections but sends nothing.
    case silence
    /// Completes the TLS handshake and then sends nothing.
    case silenceAfterHandshake
    /// Supports HTTP/1.1 only.
    case http1
    /// Answers the first bytes with these bytes, without TLS.
    case plainGarbage([UInt8])
    /// Answers the first bytes with these bytes, within TLS.
    case garbage([UInt8])
  }

  /// Called with a request, and the status and the reason or error code of its answer, before the
  /// answer is written. A reset has no answer.
  public typealias Watch = @Sendable (_ request: PushServerRequest, _ status: Int, _ reason: String?) -> Void

  /// The port that the server listens on.
  public let port: Int
  /// The address of the server, such as `https://localhost:8443`.
  public var url: String { "https://localhost:\(port)" }
  /// The path of the root certificate's PEM file, for `--cacert`. `stop()` removes the file, unless a
  /// ``KeyFolder`` keeps it.
  public var rootCertificatePEMFile: String { certificates.rootFile }

  /// Creates a client certificate that the server accepts when `tls` is `clientCertificate`. Call
  /// it once.
  ///
  /// - Returns: the path of a PEM file with the certificate and its key, for `--apns-certificate`;
  ///   `stop()` removes the file.
  public func makeClientCertificateFile() throws(OriginError) -> String { try certificates.clientFile() }

  private let ledger: PushLedger
  private let pipeline: PushPipeline
  /// The access tokens issued; nil for Apple's service, which issues none.
  private let accessTokens: AccessTokens?
  private let certificates: Certificates
  private let group: MultiThreadedEventLoopGroup
  private let listener: Mutex<any Channel>

  /// - Parameter listener: the channel that accepts connections for `pipeline`.
  init(
    _ pipeline: PushPipeline, _ listener: any Channel, _ accessTokens: AccessTokens?, _ certificates: Certificates,
    _ group: MultiThreadedEventLoopGroup
  ) {
    (self.pipeline, self.accessTokens, self.certificates, self.group) = (pipeline, accessTokens, certificates, group)
    ledger = pipeline.ledger
    self.listener = Mutex(listener)
    port = listener.localAddress?.port ?? 0
  }

  /// Closes all connections, stops the threads and removes the root certificate's file. Waiters for
  /// events resume.
  public func stop() async {
    ledger.change { $0.isStopped = true }
    try? await group.shutdownGracefully()
    certificates.remove()
  }

  /// Stops listening and resets every connection, as if the server's process were killed. Then it
  /// listens again on the same port. Held answers are discarded.
  public func restart() async throws(OriginError) {
    let old = listener.withLock { $0 }
    try? await old.close().get()
    await resetConnections()
    ledger.change { $0.held = [] }
    let new = try await pipeline.listen(port: port, group: group)
    listener.withLock { $0 = new }
  }

  /// Resets all connections and returns when they are closed.
  public func resetConnections() async {
    for channel in ledger.read({ Array($0.open.values) }) {
      channel.eventLoop.execute { ConnectionTap.reset(channel) }
      try? await channel.closeFuture.get()
    }
  }

  /// Sends GOAWAY on every connection: the server processes no stream above `lastStream` and
  /// accepts no new one.
  ///
  /// - Parameters:
  ///   - lastStream: the last stream to process; streams above it are discarded.
  ///   - reason: Apple's reason in the frame; nil for none.
  ///   - closes: whether the connection is closed immediately. Otherwise it ends with its last
  ///     stream.
  public func goAway(lastStream: Int, reason: String? = nil, closes: Bool = false) {
    let data = reason.map { ByteBuffer(string: "{\"reason\":\"\($0)\"}") }
    forEachConnection { channel in
      let frame = HTTP2Frame(
        streamID: .rootStream, payload: .goAway(lastStreamID: HTTP2StreamID(lastStream), errorCode: .noError, opaqueData: data))
      let sent = channel.writeAndFlush(frame)
      if closes { sent.whenComplete { _ in channel.close(promise: nil) } }
    }
  }

  /// Stops reading on all current connections, so that no request and no PING is answered.
  public func freeze() async {
    let channels = ledger.read { Array($0.open.values) }
    for channel in channels { try? await channel.setOption(.autoRead, value: false).get() }
  }

  /// Answers all held requests, now and from now on.
  public func release() {
    let held = ledger.change { state in
      defer { state.held = [] }
      state.isReleased = true
      return state.held
    }
    for body in held { body() }
  }

  /// Makes all access tokens issued so far invalid.
  public func revokeTokens() {
    accessTokens?.revoke()
  }

  private func forEachConnection(_ body: @escaping @Sendable (any Channel) -> Void) {
    for channel in ledger.read({ Array($0.open.values) }) { channel.eventLoop.execute { body(channel) } }
  }

  /// The requests so far, in the order received, including those that broke a rule.
  public var requests: [PushServerRequest] { ledger.read(\.requests) }
  /// The address that issues access tokens, for ``GoogleAccount/keyFile(tokenURI:)``.
  public var tokenURI: String { TokenEndpoint.uri(port: port) }
  /// The number of access tokens issued; 0 for Apple's service.
  public var tokenCount: Int { accessTokens?.count ?? 0 }
  /// The number of requests received, without those for access tokens.
  public var requestCount: Int { ledger.read(\.requestCount) }
  /// The number of requests, by ``PushServerRequest/identifier``.
  public var attempts: [String: Int] { ledger.read(\.attempts) }
  /// The number of 200 responses written, by ``PushServerRequest/identifier``.
  public var delivered: [String: Int] { ledger.read(\.delivered) }
  /// The number of connections accepted.
  public var connectionCount: Int { ledger.read(\.accepted) }
  /// The highest number of streams that one connection had open at the same time.
  public var mostStreams: Int { ledger.read(\.mostStreams) }

  /// Returns when `count` requests have arrived or the server has stopped.
  public func waitForRequests(count: Int) async {
    await ledger.wait { $0.requestCount >= count }
  }

  /// Returns when `count` requests are on hold or the server has stopped.
  public func waitForHeld(count: Int) async {
    await ledger.wait { $0.held.count >= count }
  }

  /// Returns when `count` connections have been accepted or the server has stopped.
  public func waitForConnections(count: Int) async {
    await ledger.wait { $0.accepted >= count }
  }
}
