internal import NIOCore
internal import NIOPosix

/// A DNS server on loopback, UDP and TCP on one port, that answers each name as it is told.
public final class StubDNS: Sendable {
  /// One query that came.
  public struct Query: Hashable, Sendable {
    public var question: DNSMessage.Question
    public var overTCP: Bool
    /// The port that it came from.
    public var clientPort: Int
  }

  /// What happens at the server, as its watcher hears of it, on the server's thread.
  package enum Event: Sendable {
    case asked(DNSMessage.Question)
    /// Bytes that are no message are left out.
    case answered(DNSMessage)
  }

  /// Where the server listens, as `--dns-server` takes it: `127.0.0.1:PORT`.
  public let address: String
  private let script: DNSScript
  private let channels: [any Channel]

  /// Starts the server on a free port.
  ///
  /// - Parameters:
  ///   - answers: by name, in lower case without a trailing dot.
  ///   - others: the answer for every other name.
  /// - Throws: the system's error when no port is to be had.
  public convenience init(_ answers: [String: Answer] = [:], others: Answer = .noSuchName) async throws {
    try await self.init(answers, others: others) { _ in }
  }

  /// Starts a server that tells of everything that happens at it.
  ///
  /// - Parameter sockets: one for datagrams and one that listens, on one port of 127.0.0.1, to be
  ///   taken over; nil for a port that is free. Without the second, TCP is refused.
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

  /// Every query so far, in the order received; a query sent again counts anew.
  public var queries: [Query] {
    script.queries
  }

  /// Answers `name` in this way from now on.
  public func set(_ answer: Answer, for name: String) {
    script.set(answer, for: name)
  }

  /// Answers every query for `name` that was met with ``Answer/silence``; the answer must be one
  /// that is sent at once.
  public func release(_ name: String, with answer: Answer) {
    script.release(name, with: answer)
  }

  /// Returns when `count` queries have come since the start.
  public func waitForQueries(count: Int) async {
    await script.waitForQueries(of: nil, count: count)
  }

  /// Returns when `count` queries for `name` have come since the start.
  public func waitForQueries(of name: String, count: Int) async {
    await script.waitForQueries(of: name, count: count)
  }

  /// Closes the sockets.
  public func stop() async {
    for channel in channels { try? await channel.close() }
  }

  /// Binds UDP to a free port and TCP to the same one; tries another when somebody else has that.
  private static func listen(_ script: DNSScript, _ sockets: (udp: Int32, tcp: Int32?)?) async throws -> [any Channel] {
    let group = MultiThreadedEventLoopGroup.singleton
    // Room for a burst: the kernel drops datagrams that nobody has read.
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
