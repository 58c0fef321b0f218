internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2
internal import NIOPosix
internal import NIOSSL

/// Accepts connections and sets up the pipeline of each.
struct OriginServer: Sendable {
  /// The number of connections that can wait to be accepted: the kernel's usual limit
  /// (net.core.somaxconn).
  private static let backlog: Int32 = 4096

  let content: OriginContent
  let ledger: OriginLedger
  let tls: NIOSSLContext?
  let fault: ConnectionFault?
  /// The bytes sent instead of a handshake; nil for a real handshake.
  let flight: ServerFlight?

  /// Listens on 127.0.0.1, or takes over a listening socket.
  func listen(port: Int, socket: Int32?, group: any EventLoopGroup) async throws(OriginError) -> any Channel {
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: Self.backlog)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelOption(.maxMessagesPerRead, value: 256)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in channel.eventLoop.makeCompletedFuture { try accept(channel) } }
    do {
      if let socket { return try await bootstrap.withBoundSocket(socket).get() }
      return try await bootstrap.bind(host: "127.0.0.1", port: port).get()
    } catch {
      throw .port(port, reason: "\(error)")
    }
  }

  private func accept(_ channel: any Channel) throws {
    let number = ledger.opened()
    channel.closeFuture.whenComplete { _ in ledger.closed() }
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(ConnectionTap())
    switch fault {
    case .silence: return
    case .reset: return try pipeline.addHandler(ResetHandler())
    case .drip(let bytes, let interval): try pipeline.addHandler(DripHandler(bytes: bytes, every: interval))
    case .nullCipher, .shortKey, .falseProtocol, nil: break
    }
    if let flight { return try pipeline.addHandler(AnswerHandler(flight.bytes)) }
    guard let tls else { return try plain(channel, number) }
    try pipeline.addHandler(NIOSSLServerHandler(context: tls))
    channel.configureHTTP2SecureUpgrade(
      h2ChannelConfigurator: { channel in channel.eventLoop.makeCompletedFuture { try speakHTTP2(channel, number) } },
      http1ChannelConfigurator: { channel in channel.eventLoop.makeCompletedFuture { try plain(channel, number) } }
    ).whenFailure { _ in channel.close(promise: nil) }
  }

  private func speakHTTP2(_ channel: any Channel, _ number: Int) throws {
    guard fault == .falseProtocol else { return try streams(channel, number) }
    let answer = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 4\r\n\r\n\u{7F}PNG"
    try channel.pipeline.syncOperations.addHandler(AnswerHandler(Array(answer.utf8)))
  }

  private func plain(_ channel: any Channel, _ number: Int) throws {
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
    let wire = PlainWire(channel: channel)
    try pipeline.addHandler(RequestHandler(connection: number, content: content, ledger: ledger, wire: wire, isStream: false))
  }

  private func streams(_ channel: any Channel, _ number: Int) throws {
    var connection = NIOHTTP2Handler.ConnectionConfiguration()
    // The faults send contradictory headers on purpose.
    connection.contentLengthValidation = .disabled
    connection.headerBlockValidation = .disabled
    var stream = NIOHTTP2Handler.StreamConfiguration()
    // A client that cancels 500 stalled streams at its deadline is not an attack here.
    stream.streamResetFrameRateLimit.maximumCount = 1_000_000
    stream.streamErrorRateLimit.maximumCount = 1_000_000
    _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
      mode: .server, connectionConfiguration: connection, streamConfiguration: stream
    ) { stream in
      stream.eventLoop.makeCompletedFuture {
        let pipeline = stream.pipeline.syncOperations
        try pipeline.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
        let wire = StreamWire(channel: stream)
        try pipeline.addHandler(RequestHandler(connection: number, content: content, ledger: ledger, wire: wire, isStream: true))
      }
    }
  }
}
