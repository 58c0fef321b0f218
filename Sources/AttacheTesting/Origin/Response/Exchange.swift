internal import Attache
internal import NIOCore

/// Plays the script of a response, on the event loop of its connection.
final class Exchange {
  /// How a response ended.
  enum Ending { case complete(keepsAlive: Bool), broken }

  /// The number of bytes passed to the socket at a time. The next piece waits until the socket has
  /// accepted them.
  private static let pieceSize = 65_536

  private let wire: any ResponseWire
  private let path: String
  private let ledger: OriginLedger
  private let finish: (Ending) -> Void
  /// False for a HEAD request: the fields describe the body, but it is not sent.
  private let sendsBody: Bool
  private let keepsAlive: Bool
  private var playback: ResponsePlayback
  private var timer: Scheduled<Void>?
  private var stall: Int?
  private var isOver = false

  /// - Parameter finish: called once, unless the exchange is cancelled.
  init(
    _ script: ResponseScript, to request: RecordedRequest, wire: any ResponseWire, ledger: OriginLedger, finish: @escaping (Ending) -> Void
  ) {
    playback = ResponsePlayback(script, to: request)
    keepsAlive = script.head?.keepsAlive ?? true
    sendsBody = request.method != "HEAD"
    path = request.path
    self.wire = wire
    self.ledger = ledger
    self.finish = finish
  }

  /// Executes the next move when it is due.
  func proceed() {
    playback.latest = .now
    guard !isOver, let due = playback.due, let action = playback.next() else { return }
    let pause = playback.latest.duration(to: due)
    if pause > .zero { wait(pause) { $0.play(action) } } else { play(action) }
  }

  private func play(_ action: ResponseScript.Action) {
    switch action {
    case .head(let head, let isOpen): send(head, isOpen: isOpen)
    case .field(let field): send(line: field.line)
    case .headEnd: send(line: "\r\n")
    case .body(let bytes) where sendsBody && !bytes.isEmpty: send(ByteBuffer(bytes: bytes))
    case .body: soon { $0.proceed() }
    case .raw(let bytes): send(raw: bytes)
    case .stall: park()
    case .end: after(wire.end()) { $0.end(.complete(keepsAlive: $0.keepsAlive)) }
    case .reset: breakOff(.reset(path: path)) { wire.reset() }
    case .close: breakOff(.closed(path: path)) { wire.close() }
    case .cut: breakOff(.closed(path: path)) { wire.cut() }
    case .goAway: breakOff(.closed(path: path)) { wire.goAway() }
    case .flood(let flood): send(flood, isFirst: true)
    case .fetcher(let fault): end(fetcher: fault)
    }
  }

  /// Stops the exchange because the connection is closed.
  func cancel() {
    isOver = true
    timer?.cancel()
    if let stall { ledger.unpark(stall, path: path) }
  }

  private func end(_ ending: Ending) {
    guard !isOver else { return }
    isOver = true
    if case .complete = ending { ledger.note(.finished(path: path)) }
    finish(ending)
  }

  private func breakOff(_ event: OriginEvent? = nil, _ act: () -> Void) {
    if let event { ledger.note(event) }
    end(.broken)
    act()
  }

  /// Kills or stops the process that sent the request, or its converter, then stalls.
  private func end(fetcher fault: FetcherFault) {
    let outcome = wire.connection.flatMap { ConnectionPeer($0) }?.play(fault) ?? .reached
    // No event tells of a new process.
    guard outcome != .early else { return wait(.milliseconds(10)) { $0.end(fetcher: fault) } }
    ledger.note(.fetcher(path: path, fault, isReached: outcome == .reached))
    if outcome == .reached { park() } else { breakOff { wire.reset() } }
  }

  /// Continues when the socket has accepted the bytes. A failed write means that the connection is
  /// closing; the close then cancels the exchange.
  private func after(_ written: EventLoopFuture<Void>, _ next: @escaping (Exchange) -> Void) {
    written.assumeIsolated().whenSuccess { [self] in
      if !isOver { next(self) }
    }
  }

  private func wait(_ duration: Duration, _ next: @escaping (Exchange) -> Void) {
    timer = wire.eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(duration.nanoseconds)) { [self] in
      if !isOver { next(self) }
    }
  }

  private func park() {
    let bound = NIOLoopBound(self, eventLoop: wire.eventLoop)
    let eventLoop = wire.eventLoop
    stall = ledger.park(path: path) {
      eventLoop.execute { bound.value.proceed() }
    }
  }
}

extension Exchange {
  private func send(_ head: ResponseScript.Head, isOpen: Bool) {
    ledger.note(.head(path: path, status: head.status))
    let flushes = !isBodyNext
    let written = wire.write(head, isOpen: isOpen, flushes: flushes)
    if flushes { after(written) { $0.proceed() } } else { proceed() }
  }

  /// Whether bytes of the body follow immediately. They flush the head, too.
  private var isBodyNext: Bool {
    guard let move = playback.upcoming, move.moment == .after(.zero), case .body(let bytes) = move.action else { return false }
    return sendsBody && !bytes.isEmpty
  }

  private func send(line: String) {
    after(wire.write(raw: ByteBuffer(string: line))) { $0.soon { $0.proceed() } }
  }

  private func send(raw bytes: [UInt8]) {
    after(wire.write(raw: ByteBuffer(bytes: bytes))) { exchange in
      exchange.ledger.sent(bytes.count, path: exchange.path)
      exchange.soon { $0.proceed() }
    }
  }

  private func send(_ body: ByteBuffer) {
    var rest = body
    let piece = rest.readSlice(length: min(Self.pieceSize, rest.readableBytes)) ?? ByteBuffer()
    after(wire.write(body: piece)) { [rest] exchange in
      exchange.ledger.sent(piece.readableBytes, path: exchange.path)
      exchange.soon { rest.readableBytes > 0 ? $0.send(rest) : $0.proceed() }
    }
  }

  private func send(_ flood: HeaderFlood, isFirst: Bool) {
    after(wire.write(flood, isFirst: isFirst)) { exchange in
      if flood.goesOn { exchange.soon { $0.send(flood, isFirst: false) } }
    }
  }

  /// Continues on a later turn of the event loop, so that other connections get their turn and the
  /// stack does not grow.
  private func soon(_ next: @escaping (Exchange) -> Void) {
    wire.eventLoop.assumeIsolated().execute { [self] in
      if !isOver { next(self) }
    }
  }
}
