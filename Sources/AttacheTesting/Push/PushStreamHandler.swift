internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2

/// Handles one stream: reads a request, checks it against the service's rules, and answers it.
final class PushStreamHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart

  private let server: PushPipeline
  private let connection: Int
  private let wire: StreamWire
  private let channel: any Channel
  private let stream: Int
  private var head: HTTPRequestHead?
  private var body: [UInt8] = []

  init(_ server: PushPipeline, connection: Int, stream: Int, _ channel: any Channel) {
    (self.server, self.connection, self.stream, self.channel) = (server, connection, stream, channel)
    wire = StreamWire(channel: channel)
    server.ledger.streamOpened(on: connection)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body(let bytes): body += Array(bytes.readableBytesView)
    case .end: answer()
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    server.ledger.streamClosed(on: connection)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func answer() {
    guard let head else { return }
    var request = PushServerRequest(
      path: head.uri, method: head.method.rawValue, fields: head.headers.map { HeaderField($0.name.lowercased(), $0.value) }, body: body,
      connection: connection, stream: stream)
    request.port = channel.parent?.localAddress?.port ?? 0
    request.client = channel.parent?.remoteAddress.map { "\($0.ipAddress ?? ""):\($0.port ?? 0)" } ?? ""
    server.service.identify(&request)
    if let response = server.service.responseBesidePushes(to: request) {
      return write(request, response.status, [], response.body, reason: response.reason)
    }
    request.attempt = server.ledger.record(request, keepsRequests: server.keepsRequests)
    do throws(PushRefusal) {
      try server.service.check(request)
    } catch {
      return write(request, error)
    }
    give(server.respond(request), to: request)
  }

  private func give(_ answer: PushServerAnswer, to request: PushServerRequest) {
    switch answer {
    case .delivered: deliver(request)
    case .error(let status, let reason, let timestamp, let retryAfter):
      var refusal = PushRefusal(status, reason)
      (refusal.timestamp, refusal.retryAfter) = (timestamp, retryAfter)
      write(request, refusal)
    case .body(let status, let bytes): write(request, status, [], bytes)
    case .fields(let count):
      write(request, 200, (0..<count).map { HeaderField("x-\($0)", String(repeating: "x", count: 100)) }, [])
    case .hold:
      let loop = channel.eventLoop
      let pending = NIOLoopBound(self, eventLoop: loop)
      server.ledger.hold { loop.execute { pending.value.deliver(request) } }
    case .refusedStream: reset(.refusedStream)
    case .brokenStream: reset(.internalError)
    case .flood(let flood): flow(flood, isFirst: true)
    }
  }

  private func deliver(_ request: PushServerRequest) {
    guard channel.isActive else { return }
    server.ledger.change { $0.delivered[request.identifier, default: 0] += 1 }
    write(request, 200, [], server.service.body(ofAccepted: request))
  }

  private func write(_ request: PushServerRequest, _ refusal: PushRefusal) {
    let fields = refusal.retryAfter.map { [HeaderField("retry-after", $0)] } ?? []
    write(request, refusal.status, fields, server.service.body(of: refusal), reason: refusal.reason)
  }

  private func write(
    _ request: PushServerRequest, _ status: Int, _ fields: [HeaderField], _ bytes: [UInt8], reason: String? = nil
  ) {
    guard channel.isActive else { return }
    server.watch?(request, status, reason)
    let headers = HTTPHeaders((fields + server.service.fields(ofAnswerTo: request)).map { ($0.name, $0.value) })
    channel.write(HTTPServerResponsePart.head(.init(version: .http2, status: .init(statusCode: status), headers: headers)), promise: nil)
    if !bytes.isEmpty { channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: bytes))), promise: nil) }
    channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
  }

  private func reset(_ code: HTTP2ErrorCode) {
    // Written below the codec, which does not support RST_STREAM.
    let codec = try? channel.pipeline.syncOperations.context(handlerType: HTTP2FramePayloadToHTTP1ServerCodec.self)
    codec?.writeAndFlush(NIOAny(HTTP2Frame.FramePayload.rstStream(code)), promise: nil)
  }

  private func flow(_ flood: HeaderFlood, isFirst: Bool) {
    let next = wire.write(flood, isFirst: isFirst)
    guard flood.goesOn else { return }
    next.assumeIsolated().whenSuccess { [self] in flow(flood, isFirst: false) }
  }
}
