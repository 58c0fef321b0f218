import AttacheTesting
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL

/// A TLS connection to an origin that trusts only the origin's root.
struct SecureClient {
  let channel: any Channel
  let received: Received

  /// The received data, until the connection or the stream ended.
  final class Received: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    let whole: EventLoopPromise<[UInt8]>
    private let bytes: NIOLoopBoundBox<ByteBuffer>

    init(_ eventLoop: any EventLoop) {
      whole = eventLoop.makePromise()
      bytes = .makeBoxSendingValue(ByteBuffer(), eventLoop: eventLoop)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      bytes.value.writeImmutableBuffer(unwrapInboundIn(data))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      whole.fail(error)
      context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
      whole.succeed(Array(buffer: bytes.value))
    }
  }

  /// Connects. `received` throws if the handshake failed.
  init(_ origin: FaultOrigin, name: String?) async throws {
    let context = try Self.context(root: origin.rootCertificatePEMFile, protocols: ["http/1.1"])
    let group = MultiThreadedEventLoopGroup.singleton
    let eventLoop = group.any()
    let received = Received(eventLoop)
    self.received = received
    channel = try await ClientBootstrap(group: eventLoop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: context, serverHostname: name))
          try channel.pipeline.syncOperations.addHandler(received)
        }
      }
      .connect(host: "127.0.0.1", port: origin.port).get()
  }

  /// Sends one request and reads to the end.
  static func get(_ path: String, _ origin: FaultOrigin, name: String? = nil) async throws -> WireResponse {
    let client = try await SecureClient(origin, name: name)
    client.channel.writeAndFlush(ByteBuffer(string: "GET \(path) HTTP/1.1\r\nHost: origin\r\nConnection: close\r\n\r\n"), promise: nil)
    return WireResponse(try await client.received.whole.futureResult.get())
  }

  /// - Parameter root: the path of the only trusted certificate.
  static func context(root: String?, protocols: [String]) throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.trustRoots = .file(root ?? "/nowhere")
    configuration.applicationProtocols = protocols
    return try NIOSSLContext(configuration: configuration)
  }
}

/// An HTTP/2 connection to an origin.
struct StreamClient {
  /// A response over one stream, with `error` if the stream or the connection broke.
  struct Response: Sendable {
    var status: UInt?
    var fields = HTTPHeaders()
    var body: [UInt8] = []
    var isComplete = false
    var error: String?
  }

  final class Collector: ChannelInboundHandler, Sendable {
    typealias InboundIn = HTTPClientResponsePart
    let whole: EventLoopPromise<Response>
    private let response: NIOLoopBoundBox<Response>

    init(_ eventLoop: any EventLoop) {
      whole = eventLoop.makePromise()
      response = .makeBoxSendingValue(Response(), eventLoop: eventLoop)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head): (response.value.status, response.value.fields) = (head.status.code, head.headers)
      case .body(let bytes): response.value.body += Array(buffer: bytes)
      case .end: response.value.isComplete = true
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      response.value.error = "\(error)"
    }

    func channelInactive(context: ChannelHandlerContext) {
      whole.succeed(response.value)
    }
  }

  let channel: any Channel
  let multiplexer: NIOHTTP2Handler.StreamMultiplexer

  init(_ origin: FaultOrigin) async throws {
    try await self.init(port: origin.port, root: origin.rootCertificatePEMFile)
  }

  /// - Parameter root: the path of the only trusted certificate.
  init(port: Int, root: String?) async throws {
    let context = try SecureClient.context(root: root, protocols: ["h2"])
    var configuration = NIOHTTP2Handler.ConnectionConfiguration()
    configuration.contentLengthValidation = .disabled
    (channel, multiplexer) = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: port) { [configuration] channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: "localhost"))
          let multiplexer = try pipeline.configureHTTP2Pipeline(
            mode: .client, connectionConfiguration: configuration, streamConfiguration: .init()
          ) { $0.eventLoop.makeSucceededVoidFuture() }
          return (channel, multiplexer)
        }
      }
  }

  func get(_ path: String) async throws -> Response {
    try await begin(path).get()
  }

  /// Sends a request with a body and reads to the end.
  func send(_ method: HTTPMethod, _ path: String, _ fields: [String: String], _ body: String) async throws -> Response {
    try await begin(path, method, fields, ByteBuffer(string: body)).get()
  }

  func begin(
    _ path: String, _ method: HTTPMethod = .GET, _ fields: [String: String] = [:], _ body: ByteBuffer? = nil
  ) async throws -> EventLoopFuture<Response> {
    let collector = Collector(channel.eventLoop)
    let promise = channel.eventLoop.makePromise(of: (any Channel).self)
    multiplexer.createStreamChannel(promise: promise) { stream in
      stream.eventLoop.makeCompletedFuture {
        try stream.pipeline.syncOperations.addHandler(HTTP2FramePayloadToHTTP1ClientCodec(httpProtocol: .https))
        try stream.pipeline.syncOperations.addHandler(collector)
      }
    }
    let stream = try await promise.futureResult.get()
    let headers = HTTPHeaders([("host", "localhost")] + fields.map { ($0.key, $0.value) })
    stream.write(HTTPClientRequestPart.head(HTTPRequestHead(version: .http2, method: method, uri: path, headers: headers)), promise: nil)
    if let body { stream.write(HTTPClientRequestPart.body(.byteBuffer(body)), promise: nil) }
    stream.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
    return collector.whole.futureResult
  }
}
