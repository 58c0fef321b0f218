internal import NIOCore
internal import NIOPosix

/// A DNS server on loopback that answers each name as configured. It listens on UDP and TCP, on the
/// same port.
public final class StubDNS: Sendable {
  /// A query that the server received.
  public struct Query: Hashable, Sendable {
    /// The first question of the query.
    public var question: DNSMessage.Question
    /// Whether the query arrived over TCP, not UDP.
    public var overTCP: Bool
    /// The client's port.
    public var clientPort: Int
  }

  /// An event at the server. The watcher receives it on the server's thread.
  package enum Event: Sendable {
    case asked(DNSMessage.Question)
    /// Answers that are not valid DNS messages are not reported.
    case answered(DNSMessage)
  }

  /// The server's address in the form that `--dns-server` takes: `127.0.0.1:PORT`.
  public let address: String
  private let script: DNSScript
  private let channels: [any Channel]

  /// Starts the server on a free port.
  ///
  /// - Parameters:
  ///   - answers: the answers by name, in lower case without a trailing dot.
  ///   - others: the answer for every other name.
  /// - Throws: the system's error when no port is available.
  public convenience init(_ answers: [String: Answer] = [:], others: Answer = .noSuchName) async throws {
    try await self.init(answers, others: others) { _ in }
  }

  /// Starts a server that reports all its events.
  ///
  /// - Parameter sockets: a datagram socket and a listening socket to take over, both on the same
  ///   port of 127.0.0.1; nil for a free port. Without the second, TCP connections are refused.
  package init(
    _ answers: [String: Answer], others: Answer, sockets: (udp: Int32, tcp: Int32?)? = nil, watch: @escaping @Sendable (Event) -> Void
  ) async throws {
    script = DNSScript(answers: answers, others: others, watch: watch)
    channels = try await Self.listen(script, sockets)
    address = "127.0.0.1:\(channels[0].localAddress?.port ?? 0)"
  }

  deinit {
    for channel in channels { channel.close(promise: nil) }
  }

  /// All queries so far, in the order received. A retransmitted query counts as a new one.
  public var queries: [Query] {
    script.queries
  }

  /// Sets the answer for `name` from now on.
  public func set(_ answer: Answer, for name: String) {
    script.set(answer, for: name)
  }

  /// Answers every query for `name` that ``Answer/silence`` holds. The answer must be one that is
  /// sent immediately.
  public func release(_ name: String, with answer: Answer) {
    script.release(name, with: answer)
  }

  /// Returns when `count` queries have arrived since the start.
  public func waitForQueries(count: Int) async {
    await script.waitForQueries(of: nil, count: count)
  }

  /// Returns when `count` queries for `name` have arrived since the start.
  public func waitForQueries(of name: String, count: Int) async {
    await script.waitForQueries(of: name, count: count)
  }

  /// Closes the sockets.
  public func stop() async {
    for channel in channels { try? await channel.close() }
  }

  /// Binds UDP to a free port and TCP to the same port. Tries another port, up to 10 times, when
  /// TCP cannot bind.
  private static func listen(_ script: DNSScript, _ sockets: (udp: Int32, tcp: Int32?)?) async throws -> [any Channel] {
    let group = MultiThreadedEventLoopGroup.singleton
    // Large enough for a burst: the kernel discards datagrams when the receive buffer is full.
    let udp = DatagramBootstrap(group: group)
      .channelOption(.socketOption(.so_rcvbuf), value: 4 << 20)
      .channelOption(.datagramVectorReadMessageCount, value: 64)
      .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 64 * 2048))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(DNSDatagramHandler(script: script)) }
      }
    let tcp = ServerBootstrap(group: group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(DNSStreamHandler(script: script)) }
      }
    if let sockets {
      let datagrams = try await udp.withBoundSocket(sockets.udp).get()
      guard let listener = sockets.tcp else { return [datagrams] }
      return [datagrams, try await tcp.withBoundSocket(listener).get()]
    }
    var attempts = 0
    while true {
      let datagrams = try await udp.bind(host: "127.0.0.1", port: 0).get()
      do {
        let connections = try await tcp.bind(host: "127.0.0.1", port: datagrams.localAddress?.port ?? 0).get()
        return [datagrams, connections]
      } catch {
        try await datagrams.close()
        attempts += 1
        if attempts == 10 { throw error }
      }
    }
  }
}
