internal import Attache

/// An exchange with a scenario's origin. It connects, sends the request, and receives what the
/// script sends at the scripted times.
///
/// `@unchecked Sendable`: confined to the loop's thread.
final class ScriptedTransfer: Transfer, @unchecked Sendable {
  /// The number of times that libcurl repeats a request whose connection was dead
  /// (CONN_MAX_RETRIES).
  private static let maximumRetries = 5

  /// The number of this exchange, in the order in which they began.
  let number: Int
  private(set) var connection: ScriptedConnection?
  private let request: TransferRequest
  private weak var owner: (any TransferOwner)?
  private let transport: ScriptedTransport
  private let start: MonotonicInstant
  private var isReused = false
  private var retries = 0
  private var playback: ResponsePlayback?
  private var reader = ResponseReader(isStream: false)
  private var timer: TimerEntry?
  private var isOver = false
  private(set) var times = TransferTimes()

  var isSent: Bool { times.connect != nil || isReused }

  private var loop: EventLoop { transport.loop }
  private var key: String { request.url.origin }

  init(_ request: TransferRequest, number: Int, for owner: any TransferOwner, transport: ScriptedTransport) {
    self.request = request
    self.number = number
    self.owner = owner
    self.transport = transport
    start = transport.loop.now
  }

  /// Starts the exchange. The owner is called only after this method has returned.
  func begin() {
    loop.post { [self] in connect() }
  }

  func cancel() {
    isOver = true
    stopTimer()
    transport.forget(self)
  }

  func resume() -> Bool {
    guard !isOver else { return true }
    return read()
  }

  /// An error in a body ends the exchange and is reported with its end.
  var fault: Reason? { nil }

  // MARK: Connecting

  private func connect() {
    guard !isOver else { return }
    connection = nil
    if let connection = transport.takeConnection(to: key) {
      isReused = true
      return ask(on: connection)
    }
    isReused = false
    do {
      let place = try transport.network.place(at: request.addresses, port: request.proxy?.port ?? request.url.port)
      // An origin that acts as a proxy supports no tunnels.
      if request.proxy != nil, request.url.scheme == .https { return end(.connectProxy) }
      try open(place)
    } catch  where request.proxy != nil {
      end(.connectProxy, isUnanswered: true)
    } catch {
      switch error {
      case .refused: end(.connectRefused)
      case .unreachable: end(.connectFailed)
      }
    }
  }

  private func open(_ place: ScriptedNetwork.Origin) throws(ScriptedNetwork.ConnectionFailure) {
    let isSecure = request.url.scheme == .https
    switch place.script.connection {
    case .refused: throw .refused
    case .dropped: giveUpConnecting(.connectFailed)
    case .reset:
      _ = transport.network.accept(at: place)
      end(isSecure ? .tlsHandshake : .connectReset, isUnanswered: true)
    case .silent:
      _ = transport.network.accept(at: place)
      if isSecure { giveUpConnecting(.tlsHandshake) } else { times.connect = .zero }
    case nil:
      let number = transport.network.accept(at: place)
      times.connect = .zero
      guard shakesHands(with: place.script, isSecure: isSecure) else { return }
      let connection = ScriptedConnection(place: place, number: number, isHTTP2: isSecure && place.script.offersHTTP2)
      if connection.isHTTP2 { transport.share(connection, to: key) }
      ask(on: connection)
    }
  }

  /// Performs the TLS handshake. If it fails, this method ends the transfer or schedules its end.
  ///
  /// - Returns: whether a connection is ready for the request.
  private func shakesHands(with place: OriginScript, isSecure: Bool) -> Bool {
    let tls = place.tls
    guard isSecure else {
      // A server that expects a handshake closes the connection on any other bytes.
      if tls != nil, tls != .stalled { end(.connectReset) }
      return tls == nil
    }
    switch tls {
    case .good where !place.certificateCovers(request.url.host): end(.tlsHost)
    case .good, .byName:
      times.tls = .zero
      return true
    case .stalled, .dripped, .longChain: giveUpConnecting(.tlsHandshake)
    case nil, .manyNames, .clientCertificate: end(.tlsHandshake)
    case .wrongHost, .commonName: end(.tlsHost)
    case .expired, .untrusted, .notYetValid, .selfSigned, .withoutIntermediate: end(.tlsCertificate)
    case .version11, .nullCipher, .shortKey: end(.tlsVersion)
    case .falseProtocol: end(.httpProtocol)
    }
    return false
  }

  /// Waits until the connection or handshake times out.
  private func giveUpConnecting(_ failure: Reason) {
    if failure == .connectFailed { times.connect = nil }
    schedule(at: start.advanced(by: request.connectTimeout)) { transfer in
      transfer.end(failure, isUnanswered: true, timeout: transfer.request.connectTimeout)
    }
  }

  // MARK: Asking

  private func ask(on connection: ScriptedConnection) {
    self.connection = connection
    let version = connection.isHTTP2 ? "2" : "1.1"
    let asked = RecordedRequest(
      method: "GET", target: request.url.target, fields: fields, arrival: loop.now, connection: connection.number, httpVersion: version)
    playback = ResponsePlayback(transport.network.take(asked, at: connection.place), to: asked)
    reader = ResponseReader(isStream: connection.isHTTP2)
    proceed()
  }

  /// The fields that libcurl would send.
  private var fields: [HeaderField] {
    let own = request.fields.map { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      return HeaderField(String(parts[0]), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
    }
    let proxied = request.proxy == nil ? [] : [HeaderField("Proxy-Connection", "Keep-Alive")]
    return [HeaderField("Host", request.url.host), HeaderField("User-Agent", request.userAgent), HeaderField("Accept", "*/*")] + proxied
      + own
  }

  /// Executes the script's next move when it is due, on a later turn of the loop, so that other
  /// transfers get their turn.
  private func proceed() {
    guard !isOver, let due = playback?.due else { return }
    guard due <= loop.now else { return schedule(at: due) { $0.move() } }
    loop.post { [self] in move() }
  }

  private func move() {
    guard !isOver, let connection, let action = playback?.next() else { return }
    playback?.latest = loop.now
    let path = connection.place.script.path(of: request.url.target)
    func note(_ event: OriginEvent) { transport.network.note(event, at: connection.place) }
    switch action {
    case .head(let head, let isOpen):
      note(.head(path: path, status: head.status))
      receive(head.lines(isStream: connection.isHTTP2) + (isOpen ? "" : "\r\n"))
    case .field(let field): receive(field.line)
    case .headEnd: receive("\r\n")
    case .body(let bytes), .raw(let bytes):
      if !bytes.isEmpty { note(.sent(path: path, bytes: bytes.count)) }
      if case .body = action, let playback { receive(playback.framed(bytes)) } else { receive(bytes) }
    // On the simulated machine, no separate process fetches, so such a scenario is not played
    // there.
    case .stall, .fetcher: note(.stalled(path: path))
    case .reset:
      note(.reset(path: path))
      broken(byReset: true)
    case .close, .goAway:
      note(.closed(path: path))
      broken(byReset: false)
    case .cut:
      note(.closed(path: path))
      broken(byReset: request.url.scheme == .https)
    case .flood: end(.httpHeaders)
    case .end where playback?.isChunked == true: receive("0\r\n\r\n")
    case .end:
      note(.finished(path: path))
      end(streamFailure)
    }
  }

  private func receive(_ text: String) {
    receive(Array(text.utf8))
  }

  private func receive(_ bytes: [UInt8]) {
    if times.firstByte == nil { times.firstByte = start.duration(to: loop.now) }
    reader.append(bytes)
    _ = read()
  }

  // MARK: Reading

  /// Reads the bytes that have arrived.
  ///
  /// - Returns: false when the owner stopped the transfer.
  private func read() -> Bool {
    switch reader.read(for: owner) {
    case .paused: break
    case .hungry where connection?.isHTTP2 == true && isTooLong: end(streamFailure)
    case .hungry: proceed()
    case .stopped:
      end(.httpFraming)
      return false
    case .complete: complete()
    case .failed(let reason): end(reason)
    }
    return true
  }

  private func complete() {
    // When no move is left, the end of a chunked body has already been read.
    let endsNow = playback?.upcoming.map { $0.action == .end } ?? true
    let keeps = endsNow && !reader.hasSurplus && !reader.announcesClose && !reader.head.hasTwoFramings
    if let connection {
      let path = connection.place.script.path(of: request.url.target)
      if keeps { transport.network.note(.finished(path: path), at: connection.place) }
      if keeps, !connection.isHTTP2 { transport.keep(connection, to: key) }
    }
    end(nil)
  }

  /// Handles the end of the connection or stream.
  private func broken(byReset isReset: Bool) {
    guard let connection else { return }
    if connection.isHTTP2 {
      let failure = reader.head.isComplete ? Reason.httpTruncated : .httpProtocol
      guard !isReset else { return end(failure) }
      for transfer in transport.drop(connection, to: key) { transfer.end(transfer.reader.head.isComplete ? .httpTruncated : .httpProtocol) }
      return
    }
    if isReused, !reader.hasBegun, retries < Self.maximumRetries {
      retries += 1
      return connect()
    }
    end(reader.failure(atEndByReset: isReset))
  }

  /// Whether more bytes have arrived over HTTP/2 than the header declares. libnghttp2 rejects this.
  private var isTooLong: Bool {
    statedLength.map { reader.bodyCount > $0 } ?? false
  }

  /// The failure at the end of a stream. libnghttp2 rejects a body whose length differs from the
  /// declared one.
  private var streamFailure: Reason? {
    guard connection?.isHTTP2 == true else { return reader.failure(atEndByReset: false) }
    guard reader.head.isComplete else { return .httpProtocol }
    return statedLength.map { $0 == reader.bodyCount ? nil : .httpTruncated } ?? nil
  }

  private var statedLength: Int? {
    reader.head.contentLengths.last.flatMap { Int($0.string) }
  }

  // MARK: The end

  private func end(_ failure: Reason?, isUnanswered: Bool = false, timeout: Duration? = nil) {
    guard !isOver else { return }
    isOver = true
    stopTimer()
    let end = TransferEnd(failure: failure, isUnanswered: isUnanswered, timeout: timeout, times: times, retryAfter: reader.retryAfter)
    transport.end(self, end, to: owner)
  }

  private func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable (ScriptedTransfer) -> Void) {
    stopTimer()
    timer = loop.schedule(at: instant) { [self] in
      timer = nil
      action(self)
    }
  }

  private func stopTimer() {
    if let timer { loop.cancel(timer) }
    timer = nil
  }
}
