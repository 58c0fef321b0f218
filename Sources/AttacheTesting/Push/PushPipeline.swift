internal import NIOCore
internal import NIOHTTP2
internal import NIOPosix
internal import NIOSSL

/// Accepts connections and sets up the pipeline of each.
struct PushPipeline: Sendable {
  let service: any PushService
  let ledger: PushLedger
  let tls: NIOSSLContext
  let fault: PushServer.Fault?
  /// The maximum number of concurrent streams per connection.
  let maximumStreams: Int
  let keepsRequests: Bool
  let watch: PushServer.Watch?
  let respond: @Sendable (PushServerRequest) -> PushServerAnswer

  /// Listens on 127.0.0.1.
  func listen(port: Int, group: any EventLoopGroup) async throws(OriginError) -> any Channel {
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in channel.eventLoop.makeCompletedFuture { try accept(channel) } }
    do {
      return try await bootstrap.bind(host: "127.0.0.1", port: port).get()
    } catch {
      throw .port(port, reason: "\(error)")
    }
  }

  private func accept(_ channel: any Channel) throws {
    let number = ledger.opened(channel)
    channel.closeFuture.whenComplete { _ in ledger.change { $0.open[number] = nil } }
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(ConnectionTap())
    switch fault {
    case .silence: return
    case .plainGarbage(let bytes): return try pipeline.addHandler(AnswerHandler(bytes))
    case .garbage(let bytes):
      try pipeline.addHandler(NIOSSLServerHandler(context: tls))
      return try pipeline.addHandler(AnswerHandler(bytes))
    case .silenceAfterHandshake: return try pipeline.addHandler(NIOSSLServerHandler(context: tls))
    case .http1, nil: break
    }
    try pipeline.addHandler(NIOSSLServerHandler(context: tls))
    var connection = NIOHTTP2Handler.ConnectionConfiguration()
    connection.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: maximumStreams), HTTP2Setting(parameter: .maxHeaderListSize, value: 16_384),
    ]
    var stream = NIOHTTP2Handler.StreamConfiguration()
    stream.streamResetFrameRateLimit.maximumCount = 1_000_000
    stream.streamErrorRateLimit.maximumCount = 1_000_000
    _ = try pipeline.configureHTTP2Pipeline(mode: .server, connectionConfiguration: connection, streamConfiguration: stream) { stream in
      stream.getOption(HTTP2StreamChannelOptions.streamID).flatMapThrowing { id in
        let pipeline = stream.pipeline.syncOperations
        try pipeline.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
        try pipeline.addHandler(PushStreamHandler(self, connection: number, stream: Int(id), stream))
      }
    }
  }
}
