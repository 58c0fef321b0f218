internal import Attache
internal import Glibc

/// The owner of a connection. All methods are called on the loop.
protocol PushConnectionOwner: AnyObject {
  /// The server accepts requests: there is room now, or there may be more room.
  func opened(_ connection: PushConnection)
  /// A request has ended on a connection that continues.
  func ended(_ request: PushRequest, _ ending: HTTP2Session.Ending, on connection: PushConnection)
  /// The connection has ended; `unanswered` are the requests that were open on it.
  func closed(_ connection: PushConnection, _ cause: PushConnection.Cause, unanswered: [PushRequest])
}

/// One connection to the server, from its socket to its last stream.
///
/// `@unchecked Sendable`: only the loop's thread uses it.
@safe
final class PushConnection: @unchecked Sendable {
  /// Why a connection ended.
  enum Cause {
    /// The connection could not be made, or broke. The next attempt may succeed. One line says how.
    case broken(String)
    /// No connection is possible at present, for example because a certificate is not accepted. One
    /// line says why.
    case refused(String)
    /// The server accepted no further stream and the last one has ended, or the connection is no
    /// longer needed.
    case ended
  }

  private enum Phase {
    case connecting, shakingHands, open, closed
  }

  /// The maximum number of reads, of 16 KiB each, in one turn of the loop. A server that sends
  /// without end cannot block others.
  private static let readsPerTurn = 64

  private let loop: EventLoop
  private let timeLimits: APNsConfiguration.TimeLimits
  private let socket: Int32
  private let tls: TLSConnection
  private let session: HTTP2Session
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)
  private weak var owner: (any PushConnectionOwner)?
  private var phase = Phase.connecting
  private var watched = Readiness.writable
  private var heardAt: MonotonicInstant
  /// When the server was sent a PING; nil once it has sent anything since.
  private var askedAt: MonotonicInstant?
  private var timer: TimerEntry?
  /// Whether the server has sent its settings.
  private(set) var hasOpened = false
  /// Whether a request was answered on this connection.
  var hasAnswered: Bool { answeredAt != nil }
  /// When the last request was answered on this connection.
  private var answeredAt: MonotonicInstant?
  private let startedAt: MonotonicInstant

  /// Starts to connect.
  ///
  /// - Throws: ``PushConnectionFailure`` when this fails at once.
  init(
    to address: IPAddress, _ endpoint: PushEndpoint, _ context: TLSContext, _ timeLimits: APNsConfiguration.TimeLimits, loop: EventLoop,
    owner: any PushConnectionOwner
  ) throws(PushConnectionFailure) {
    do throws(SystemError) {
      socket = try StreamSocket.connect(to: address, port: endpoint.port)
    } catch {
      throw PushConnectionFailure("\(error)")
    }
    do throws(TLSFailure) {
      tls = try TLSConnection(context, to: endpoint, over: socket)
    } catch {
      close(socket)
      throw PushConnectionFailure("TLS: \(error)")
    }
    guard let session = HTTP2Session(authority: endpoint.authority) else {
      close(socket)
      throw PushConnectionFailure("no memory")
    }
    (self.session, self.loop, self.timeLimits, self.owner) = (session, loop, timeLimits, owner)
    (heardAt, startedAt) = (loop.now, loop.now)
    watch(.writable, isNew: true)
    schedule(at: startedAt.advanced(by: timeLimits.connecting))
  }

  deinit {
    unsafe buffer.deallocate()
  }

  /// Whether it accepts no further request, now or later.
  var isEnding: Bool { phase == .closed || session.isGoingAway }
  var isOpen: Bool { hasOpened && !isEnding }
  var room: Int { isOpen ? session.room : 0 }
  var openStreams: Int { session.openStreams }
  /// The data of the server's GOAWAY.
  var goAwayData: [UInt8] { session.goAwayData }

  /// Starts a request. Call it when there is ``room``; ``flush()`` sends it.
  ///
  /// - Returns: false when the connection accepts no request.
  func submit(_ request: PushRequest, authorization: [UInt8]?) -> Bool {
    if session.openStreams == 0 { heardAt = loop.now }
    guard session.submit(request, authorization: authorization, at: loop.now) else { return false }
    if timer == nil { schedule(at: loop.now.advanced(by: nextLook)) }
    return true
  }

  /// Writes the pending bytes, as far as the socket accepts them.
  func flush() {
    guard phase == .open else { return }
    var failure: TLSFailure?
    var waits = Readiness.readable
    _ = unsafe session.write { bytes in
      switch unsafe tls.write(bytes) {
      case .bytes(let count): return count
      case .wantsWrite: waits = [.readable, .writable]
      case .wantsRead, .done: break
      case .failed(let cause): failure = cause
      }
      return nil
    }
    if let failure { return fail(failure) }
    watch(waits)
    handOn()
    if session.isOver { end(.ended) }
  }

  /// Ends the connection and passes its open requests to the owner.
  func end(_ cause: Cause) {
    guard phase != .closed else { return }
    let wasOpen = phase == .open
    phase = .closed
    if let timer { loop.cancel(timer) }
    loop.unwatch(socket)
    if wasOpen { tls.end() }
    close(socket)
    handOn()
    owner?.closed(self, cause, unanswered: session.takeOpen())
  }

  /// Sends a GOAWAY and ends the connection.
  func leave() {
    session.end()
    if phase == .open { _ = unsafe session.write { bytes in if case .bytes(let count) = unsafe tls.write(bytes) { count } else { nil } } }
    end(.ended)
  }

  // MARK: - Readiness

  private func watch(_ readiness: Readiness, isNew: Bool = false) {
    guard isNew || readiness != watched else { return }
    watched = readiness
    loop.watch(socket, for: readiness) { [weak self] _, readiness in self?.ready(readiness) }
  }

  private func ready(_ readiness: Readiness) {
    switch phase {
    case .connecting: connected()
    case .shakingHands: shakeHands()
    case .open:
      if !readiness.isDisjoint(with: [.readable, .failed]) { read() }
      if readiness.contains(.writable) { flush() }
    case .closed: break
    }
  }

  private func connected() {
    if let error = StreamSocket.outcome(of: socket) { return end(.broken("\(error)")) }
    phase = .shakingHands
    shakeHands()
  }

  private func shakeHands() {
    switch tls.handshake() {
    case .done:
      phase = .open
      heardAt = loop.now
      flush()
      read()
    case .wantsRead, .bytes: watch(.readable)
    case .wantsWrite: watch(.writable)
    case .failed(let failure): fail(failure)
    }
  }

  private func read() {
    for _ in 0..<Self.readsPerTurn {
      guard phase == .open else { return }
      switch unsafe tls.read(into: buffer) {
      case .bytes(let count):
        (heardAt, askedAt) = (loop.now, nil)
        let fault = unsafe session.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        handOn()
        if let fault { return end(.broken(fault)) }
      case .wantsRead: return flush()
      case .wantsWrite: return watch([.readable, .writable])
      case .failed(let failure): return fail(failure)
      case .done: return
      }
    }
    // OpenSSL's buffer may hold more data, which the socket's readiness does not show.
    loop.post { [weak self] in self?.read() }
  }

  private func fail(_ failure: TLSFailure) {
    switch failure {
    case .refused(let why): end(.refused(why))
    case .broken(let why): end(.broken(why))
    }
  }

  /// Passes on what the session has received.
  private func handOn() {
    for (request, ending) in session.takeEnded() {
      if case .answered = ending { answeredAt = loop.now }
      owner?.ended(request, ending, on: self)
    }
    guard session.hasSettings, phase == .open else { return }
    if !hasOpened { open() }
    owner?.opened(self)
    if session.isGoingAway, session.openStreams == 0 { leave() }
  }

  /// Cancels the time limit for connecting.
  private func open() {
    hasOpened = true
    if let timer { loop.cancel(timer) }
    timer = nil
  }

  // MARK: - Time

  private func schedule(at instant: MonotonicInstant) {
    timer = loop.schedule(at: instant) { [weak self] in self?.look() }
  }

  private var nextLook: Duration {
    min(timeLimits.silence, timeLimits.answer)
  }

  /// Checks whether the server still responds.
  private func look() {
    timer = nil
    let now = loop.now
    guard hasOpened else {
      return end(.broken("the server did not accept the connection within \(timeLimits.connecting.components.seconds) s"))
    }
    guard session.openStreams > 0 else { return }
    if let askedAt, askedAt.duration(to: now) >= timeLimits.sign { return end(.broken("the server no longer responds")) }
    let limit = now.advanced(by: .zero - timeLimits.answer)
    // A server may answer PING but no request any more (HENNGE/aapns#31, parse-community/node-apn#27).
    if let oldest = session.oldest, oldest < limit, answeredAt.map({ $0 < oldest }) ?? true {
      return end(.broken("no request was answered for \(timeLimits.answer.components.seconds) s"))
    }
    session.expire(openedBefore: limit)
    if askedAt == nil, heardAt.duration(to: now) >= timeLimits.silence {
      askedAt = now
      session.ping()
    }
    flush()
    guard phase == .open, timer == nil else { return }
    let quiet = askedAt == nil ? heardAt.advanced(by: timeLimits.silence) : now.advanced(by: timeLimits.sign)
    schedule(at: min(quiet, now.advanced(by: nextLook)))
  }
}

/// Why a connection could not be started.
struct PushConnectionFailure: Error {
  let text: String

  init(_ text: String) {
    self.text = text
  }
}
