internal import Attache
internal import NIOCore

/// Sends a response step by step, on the event loop of its connection.
final class Exchange {
  /// How a response ended.
  enum Ending { case complete(keepsAlive: Bool), broken }

  /// The number of bytes passed to the socket at a time. The next piece waits until the socket has
  /// accepted them.
  private static let pieceSize = 65_536
  /// The highest number of pieces that a drip sends per second.
  private static let dripsPerSecond = 10

  private let wire: any ResponseWire
  private let path: String
  private let ledger: OriginLedger
  private let finish: (Ending) -> Void
  private var steps: ResponseSteps
  private var timer: Scheduled<Void>?
  private var stall: Int?
  private var isOver = false

  /// - Parameter finish: called once, unless the exchange is cancelled.
  init(_ steps: ResponseSteps, path: String, wire: any ResponseWire, ledger: OriginLedger, finish: @escaping (Ending) -> Void) {
    self.steps = steps
    self.path = path
    self.wire = wire
    self.ledger = ledger
    self.finish = finish
  }

  /// Executes the next step.
  func proceed() {
    guard !isOver, let step = steps.next() else { return }
    switch step {
    case .wait(let duration): wait(duration) { $0.proceed() }
    case .pause(let instant): wait(max(.zero, MonotonicInstant.now.duration(to: instant))) { $0.proceed() }
    case .stall: park()
    case .head(let head): send(head)
    case .endlessHead(let head): flood(head, number: 0)
    case .openHead(let head): open(head)
    case .field(let field):
      after(wire.write(unfinished: ResponseHead(status: 0, fields: [field]), isFirst: false)) { $0.soon { $0.proceed() } }
    case .headEnd(let isChunked): after(wire.endHead(isChunked: isChunked)) { $0.proceed() }
    case .raw(let bytes): send(raw: bytes)
    case .body(let bytes): send(bytes)
    case .drip(let bytes, let rate): drip(bytes, bytesPerSecond: rate)
    case .endlessBody(let bytes): sendForever(Self.repeated(bytes))
    case .end(let keepsAlive): after(wire.end()) { $0.end(.complete(keepsAlive: keepsAlive)) }
    case .reset:
      ledger.note(.reset(path: path))
      breakOff { wire.reset() }
    case .close:
      ledger.note(.closed(path: path))
      breakOff { wire.close() }
    case .flood(let flood): send(flood, isFirst: true)
    case .fetcher(let fault):
      let isReached = wire.connection.flatMap { ConnectionPeer($0) }?.signal(fault.signal) ?? true
      ledger.note(.fetcher(path: path, fault, isReached: isReached))
      if isReached { proceed() } else { breakOff { wire.reset() } }
    case .cut:
      ledger.note(.closed(path: path))
      breakOff { wire.cut() }
    case .goAway:
      ledger.note(.closed(path: path))
      breakOff { wire.goAway() }
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

  private func breakOff(_ act: () -> Void) {
    end(.broken)
    act()
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
  private func send(_ head: ResponseHead) {
    ledger.note(.head(path: path, status: head.status))
    if case .body = steps.upcoming {
      _ = wire.write(head, flushes: false)
      proceed()
    } else {
      after(wire.write(head, flushes: true)) { $0.proceed() }
    }
  }

  private func open(_ head: ResponseHead) {
    ledger.note(.head(path: path, status: head.status))
    after(wire.write(unfinished: head, isFirst: true)) { $0.proceed() }
  }

  private func send(raw bytes: ByteBuffer) {
    after(wire.write(raw: bytes)) { exchange in
      exchange.ledger.sent(bytes.readableBytes, path: exchange.path)
      exchange.soon { $0.proceed() }
    }
  }

  private func send(_ bytes: ByteBuffer) {
    var rest = bytes
    let piece = rest.readSlice(length: min(Self.pieceSize, rest.readableBytes)) ?? ByteBuffer()
    write(piece) { [rest] exchange in
      exchange.soon { rest.readableBytes > 0 ? $0.send(rest) : $0.proceed() }
    }
  }

  private func sendForever(_ bytes: ByteBuffer) {
    write(bytes) { exchange in exchange.soon { $0.sendForever(bytes) } }
  }

  private func drip(_ bytes: ByteBuffer, bytesPerSecond rate: Int) {
    var rest = bytes
    let piece = rest.readSlice(length: min(max(1, rate / Self.dripsPerSecond), rest.readableBytes)) ?? ByteBuffer()
    write(piece) { [rest] exchange in
      let pause = Duration.seconds(1) * piece.readableBytes / rate
      exchange.wait(pause) { rest.readableBytes > 0 ? $0.drip(rest, bytesPerSecond: rate) : $0.proceed() }
    }
  }

  private func send(_ flood: HeaderFlood, isFirst: Bool) {
    after(wire.write(flood, isFirst: isFirst)) { exchange in
      if flood.goesOn { exchange.soon { $0.send(flood, isFirst: false) } }
    }
  }

  private func flood(_ head: ResponseHead, number: Int) {
    var piece = head
    if number > 0 { piece.fields = (number..<number + 100).map(HeaderField.flood(number:)) }
    after(wire.write(unfinished: piece, isFirst: number == 0)) { exchange in
      exchange.soon { $0.flood(head, number: number + 100) }
    }
  }

  private func write(_ body: ByteBuffer, _ next: @escaping (Exchange) -> Void) {
    after(wire.write(body: body)) { exchange in
      exchange.ledger.sent(body.readableBytes, path: exchange.path)
      next(exchange)
    }
  }

  /// Continues on a later turn of the event loop, so that other connections get their turn and the
  /// stack does not grow.
  private func soon(_ next: @escaping (Exchange) -> Void) {
    wire.eventLoop.assumeIsolated().execute { [self] in
      if !isOver { next(self) }
    }
  }

  /// Repeats bytes up to at least 16 KB, so that an endless body of few bytes does not consist
  /// mainly of chunk headers.
  private static func repeated(_ bytes: ByteBuffer) -> ByteBuffer {
    var unit = bytes.readableBytes > 0 ? bytes : ByteBuffer(string: "x")
    while unit.readableBytes < 16_384 {
      var copy = unit
      unit.writeBuffer(&copy)
    }
    return unit
  }
}
