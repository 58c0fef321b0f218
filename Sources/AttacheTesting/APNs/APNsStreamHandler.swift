internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2

/// Handles one stream: reads a request, checks it against Apple's rules, and answers it.
final class APNsStreamHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart

  private let server: APNsPipeline
  private let connection: Int
  private let wire: StreamWire
  private let channel: any Channel
  private let stream: Int
  private var head: HTTPRequestHead?
  private var body: [UInt8] = []

  init(_ server: APNsPipeline, connection: Int, stream: Int, _ channel: any Channel) {
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
    var request = APNsRequest(
      path: head.uri, method: head.method.rawValue, fields: head.headers.map { HeaderField($0.name.lowercased(), $0.value) }, body: body,
      connection: connection, stream: stream)
    request.attempt = server.ledger.record(request, keepsRequests: server.keepsRequests)
    do throws(APNsRefusal) {
      try server.rules.check(request)
    } catch {
      return write(request, error.status, error.reason)
    }
    give(server.respond(request), to: request)
  }

  private func give(_ answer: APNsAnswer, to request: APNsRequest) {
    switch answer {
    case .delivered: deliver(request)
    case .error(let status, let reason, let timestamp, let retryAfter):
      write(request, status, reason, timestamp: timestamp, retryAfter: retryAfter)
    case .body(let status, let bytes): write(request, status, [], bytes)
    case .fields(let count):
      write(request, 200, (0..<count).map { ("x-\($0)", String(repeating: "x", count: 100)) }, [])
    case .hold:
      let loop = channel.eventLoop
      let pending = NIOLoopBound(self, eventLoop: loop)
      server.ledger.hold { loop.execute { pending.value.deliver(request) } }
    case .refusedStream: reset(.refusedStream)
    case .brokenStream: reset(.internalError)
    case .flood(let flood): flow(flood, isFirst: true)
    }
  }

  private func deliver(_ request: APNsRequest) {
    guard channel.isActive else { return }
    server.ledger.change { $0.delivered[request.identifier, default: 0] += 1 }
    write(request, 200, [], [])
  }

  private func write(_ request: APNsRequest, _ status: Int, _ reason: String?, timestamp: Int64? = nil, retryAfter: String? = nil) {
    let time = timestamp.map { ",\"timestamp\":\($0)" } ?? ""
    let text = reason.map { "{\"reason\":\"\($0)\"\(time)}" } ?? ""
    write(request, status, retryAfter.map { [("retry-after", $0)] } ?? [], Array(text.utf8))
  }

  private func write(_ request: APNsRequest, _ status: Int, _ fields: [(String, String)], _ bytes: [UInt8]) {
    guard channel.isActive else { return }
    var headers = HTTPHeaders(fields)
    headers.replaceOrAdd(
      name: request.identifierName, value: request.field(request.identifierName) ?? "00000000-0000-4000-8000-000000000000")
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
