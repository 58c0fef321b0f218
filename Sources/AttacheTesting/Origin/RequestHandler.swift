internal import Attache
internal import NIOCore
internal import NIOHTTP1

/// Records the requests of one connection (or HTTP/2 stream) and answers them one at a time.
final class RequestHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart

  private let connection: Int
  private let content: OriginContent
  private let ledger: OriginLedger
  private let wire: any ResponseWire
  private let isStream: Bool
  private var head: HTTPRequestHead?
  /// Requests that arrived while another was being answered.
  private var waiting: [(RecordedRequest, keepsAlive: Bool)] = []
  private var exchange: Exchange?

  /// - Parameter isStream: whether the wire is one HTTP/2 stream, which carries a single response.
  init(connection: Int, content: OriginContent, ledger: OriginLedger, wire: any ResponseWire, isStream: Bool) {
    self.connection = connection
    self.content = content
    self.ledger = ledger
    self.wire = wire
    self.isStream = isStream
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body: break
    case .end:
      guard let head else { return }
      let request = RecordedRequest(head, connection: connection, isStream: isStream)
      ledger.record(request)
      waiting.append((request, keepsAlive: head.isKeepAlive))
      answerNext()
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    exchange?.cancel()
    exchange = nil
    waiting = []
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard error is HTTPParserError, exchange == nil else { return context.close(promise: nil) }
    let request = RecordedRequest(method: "", target: "", fields: [], arrival: .now, connection: connection, httpVersion: "1.1")
    run(FaultyBody.plainText("not an HTTP/1 request\n", .status(400)).response(to: request), to: request, keepsAlive: false)
  }

  private func answerNext() {
    guard exchange == nil, !waiting.isEmpty else { return }
    let (request, keepsAlive) = waiting.removeFirst()
    run(content.response(to: request), to: request, keepsAlive: keepsAlive)
  }

  private func run(_ script: ResponseScript, to request: RecordedRequest, keepsAlive: Bool) {
    let exchange = Exchange(script, to: request, wire: wire, ledger: ledger) { [weak self] ending in
      self?.end(ending, keepsAlive: keepsAlive)
    }
    self.exchange = exchange
    exchange.proceed()
  }

  private func end(_ ending: Exchange.Ending, keepsAlive requestKeepsAlive: Bool) {
    // A broken exchange stays set, so that nothing more is answered on this connection.
    guard case .complete(let keepsAlive) = ending, !isStream else { return }
    guard keepsAlive, requestKeepsAlive else { return wire.close() }
    exchange = nil
    answerNext()
  }
}

extension RecordedRequest {
  init(_ head: HTTPRequestHead, connection: Int, isStream: Bool) {
    self.init(
      method: head.method.rawValue, target: head.uri, fields: head.headers.map { HeaderField($0.name, $0.value) }, arrival: .now,
      connection: connection, httpVersion: isStream ? "2" : "\(head.version.major).\(head.version.minor)")
  }
}
