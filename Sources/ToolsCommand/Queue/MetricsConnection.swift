import AttacheMetrics
import AttacheQueue
import NIOCore
import NIOHTTP1

/// A connection to the ``MetricsServer``, for one request.
final class MetricsConnection: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// How long a connection may take in all: Prometheus' default scrape_timeout.
  private static let longest = TimeAmount.seconds(10)

  let channel: any Channel
  private(set) var isAnswered = false
  private(set) var isOver = false
  private let token: BearerToken?
  private let collector: MetricsCollector
  private var end: Scheduled<Void>?

  init(_ channel: any Channel, _ token: BearerToken?, _ collector: MetricsCollector) {
    (self.channel, self.token, self.collector) = (channel, token, collector)
  }

  /// Adds the handlers to the channel.
  func prepare() throws {
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(HeadLimit())
    try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
    try pipeline.addHandler(self)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    end = context.eventLoop.scheduleTask(in: Self.longest) { [channel] in channel.close(promise: nil) }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    end?.cancel()
    isOver = true
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(let head) = unwrapInboundIn(data) else { return }
    var target = head.uri[...]
    if target.hasPrefix("http://") { target = target.dropFirst(7).drop { $0 != "/" } }
    guard target.hasPrefix("/") else { return respond(context, .badRequest, "not a path\n") }
    let isBodyless = head.method == .HEAD
    if let token, !head.headers["Authorization"].contains(where: { token.admits($0.utf8) }) {
      return respond(
        context, .unauthorized, "give the token of --metrics-bearer-file, as Authorization: Bearer TOKEN\n",
        fields: [("WWW-Authenticate", "Bearer")], isBodyless: isBodyless)
    }
    let path = target.prefix { $0 != "?" }
    guard ["/metrics", "/livez", "/readyz"].contains(path) else {
      return respond(context, .notFound, "there are only /metrics, /livez and /readyz here\n", isBodyless: isBodyless)
    }
    guard head.method == .GET else {
      return respond(context, .methodNotAllowed, "only GET\n", fields: [("Allow", "GET")], isBodyless: isBodyless)
    }
    if path == "/metrics" { return respond(context, .ok, collector.text, type: MetricsCollector.contentType) }
    switch path == "/livez" ? collector.liveness : collector.readiness {
    case .good: respond(context, .ok, "ok\n")
    case .bad(let what): respond(context, .serviceUnavailable, what + "\n")
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error as? HTTPParserError {
    case nil: return
    case .headerOverflow: respond(context, .requestHeaderFieldsTooLarge, "too many fields, or more than \(HeadLimit.maximum) bytes\n")
    default: respond(context, .badRequest, "not a request of HTTP/1.1\n")
    }
  }

  /// Responds to the first request.
  ///
  /// - Parameters:
  ///   - type: the value of Content-Type.
  ///   - fields: more fields.
  ///   - isBodyless: whether the body is left out, as for HEAD.
  private func respond(
    _ context: ChannelHandlerContext, _ status: HTTPResponseStatus, _ body: String, type: String = "text/plain; charset=utf-8",
    fields: [(String, String)] = [], isBodyless: Bool = false
  ) {
    if isAnswered { return }
    isAnswered = true
    let usual = [("Content-Type", type), ("Content-Length", "\(body.utf8.count)"), ("Cache-Control", "no-store"), ("Connection", "close")]
    let head = HTTPResponseHead(version: .http1_1, status: status, headers: HTTPHeaders(usual + fields))
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if !isBodyless { context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil) }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    // The client closes the rest: closing all would discard the response if there are unread bytes.
    context.close(mode: .output, promise: nil)
  }
}

/// Bounds what is read of a request, in bytes. NIO bounds its fields, and not its first line.
private final class HeadLimit: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  static let maximum = 8 << 10
  private var count = 0

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    count += unwrapInboundIn(data).readableBytes
    guard count <= Self.maximum else { return context.fireErrorCaught(HTTPParserError.headerOverflow) }
    context.fireChannelRead(data)
  }
}
