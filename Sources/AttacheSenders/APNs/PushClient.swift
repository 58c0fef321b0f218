internal import Attache
internal import AttacheQueue

/// How a request has ended.
package enum PushEnd: Sendable {
  case answered(APNsReply)
  /// It was sent, and whether the server has taken it is not known. One line says what happened.
  case lost(String)
  /// No connection can be had as things are. One line says why.
  case unusable(String)
  /// Nobody waits for it any more.
  case cancelled
}

/// Who has a client send. Everything is called on the client's thread.
package protocol PushClientOwner: AnyObject, Sendable {
  func take(_ ends: [(request: PushRequest, end: PushEnd)])
  /// Takes what the user should know, in one line.
  func notify(_ notice: String)
  /// A connection has taken the place of a lost one.
  func reconnected()
}

/// Sends requests over HTTP/2, on one thread of its own: connections, provider tokens, and what is
/// sent again without anybody knowing.
///
/// A request that the server has certainly not looked at (streams above the last one of a GOAWAY,
/// streams that it refused) is sent again by itself; a request whose fate is not known is answered
/// as ``PushEnd/lost(_:)``.
///
/// `@unchecked Sendable`: all that changes is touched on the loop alone, after `init`.
package final class PushClient: @unchecked Sendable {
  /// How often a request that was not looked at is sent again.
  private static let maximumRefusals = 5

  private let configuration: APNsConfiguration
  private let loop: EventLoop
  private let resolver: any Resolver
  private let context: TLSContext
  private weak var owner: (any PushClientOwner)?

  private var waiting = RequestLine()
  private var connections: [PushConnection] = []
  private var addresses: [IPAddress] = []
  /// Whether a connection is on its way, its name's look-up included.
  private var isDialling = false
  /// The connection that is on its way.
  private weak var dialled: PushConnection?
  private var pause: ReconnectPause
  /// Until when no connection is begun; nil when one may be.
  private var pauseTimer: TimerEntry?
  private var token = ProviderTokenState()
  private var replies = APNsReplyReader()
  private var ends: [(request: PushRequest, end: PushEnd)] = []
  /// Whether a connection was lost for which there is no other yet.
  private var hasLost = false
  /// Whether the user was told that the server cannot be reached.
  private var hasComplained = false
  private var isClosed = false

  /// Sets everything up; connects to nobody before the first request.
  ///
  /// - Throws: ``APNsSetupError`` when a file cannot be used, or the system gives no thread.
  package init(_ configuration: APNsConfiguration, owner: any PushClientOwner) throws(APNsSetupError) {
    let certificate: String? =
      switch configuration.credentials {
      case .certificate(let path): path
      case .key: nil
      }
    context = try TLSContext(rootCertificates: configuration.rootCertificates, certificate: certificate)
    do throws(SystemError) {
      loop = try EventLoop(name: "apns")
    } catch {
      throw APNsSetupError("\(error)")
    }
    do throws(AresError) {
      resolver = try AresResolver(loop: loop)
    } catch {
      loop.stop()
      throw APNsSetupError("\(error)")
    }
    (self.configuration, self.owner) = (configuration, owner)
    pause = ReconnectPause(first: configuration.patience.firstPause, longest: configuration.patience.longestPause)
    loop.atTurnEnd { [weak self] in self?.endTurn() }
  }

  /// Does work on the client's thread, such as making requests, in the order given. Safe from any
  /// thread.
  package func perform(_ work: @escaping @Sendable () -> Void) {
    loop.post(work)
  }

  /// Sends requests. Called on the client's thread.
  package func send(_ requests: [PushRequest]) {
    for request in requests { isClosed ? finish(request, .cancelled) : waiting.append(request) }
  }

  /// Gives up everything that is unanswered. Safe from any thread.
  package func cancel() {
    loop.post { [self] in
      while let request = waiting.popFirst() { finish(request, .cancelled) }
      isClosed = true
      for connection in connections { connection.end(.ended) }
    }
  }

  /// Ends the thread, once everything is answered. Safe from any thread.
  package func close() {
    loop.post { [self] in
      isClosed = true
      for connection in connections { connection.leave() }
      resolver.shutdown()
    }
    loop.stop()
  }

  // MARK: - A turn of the loop

  private func endTurn() {
    pump()
    guard !ends.isEmpty else { return }
    let taken = ends
    ends.removeAll(keepingCapacity: true)
    owner?.take(taken)
  }

  /// Gives the connections what they have room for, and makes another one where that is due.
  private func pump() {
    guard !isClosed, !waiting.isEmpty, hasAuthorization() else { return }
    for connection in connections where connection.isOpen { fill(connection) }
    if !waiting.isEmpty { dial() }
  }

  private func fill(_ connection: PushConnection) {
    var room = connection.room
    guard room > 0 else { return }
    while room > 0, let request = waiting.popFirst() {
      request.tokenNumber = token.number
      guard connection.submit(request, authorization: token.value) else {
        waiting.prepend(request)
        break
      }
      room -= 1
    }
    connection.flush()
  }

  private func finish(_ request: PushRequest, _ end: PushEnd) {
    ends.append((request, end))
  }

  // MARK: - The provider token

  /// Whether requests may be sent: there is a token, or a client certificate in its place. Has a
  /// token made that is due.
  private func hasAuthorization() -> Bool {
    guard case .key(let key) = configuration.credentials else { return true }
    if token.begins(at: configuration.clock.uptime) { make(with: key) }
    return token.value != nil
  }

  /// jwt-kit signs asynchronously; what waits for the token waits in the line.
  private func make(with key: ProviderKey) {
    let (loop, clock) = (loop, configuration.clock)
    Task { [self] in
      do {
        let value = try await key.authorization(issuedAt: clock.wall)
        loop.post { self.token.take(value, at: clock.uptime) }
      } catch {
        let why = "no provider token could be made: \(error)"
        loop.post { self.failToken(why) }
      }
    }
  }

  private func failToken(_ why: String) {
    token.fail()
    while let request = waiting.popFirst() { finish(request, .unusable(why)) }
  }
}

// MARK: - Connections

extension PushClient: PushConnectionOwner {
  /// Begins a connection where one more may help.
  private func dial() {
    let usable = connections.filter { !$0.isEnding }
    guard !isDialling, pauseTimer == nil, usable.count < configuration.connections, usable.allSatisfy({ $0.isOpen }) else { return }
    isDialling = true
    if let address = configuration.endpoint.address { return connect([address]) }
    resolver.resolve(configuration.endpoint.host) { [self] result in resolved(result) }
  }

  private func resolved(_ result: Result<[IPAddress], DNSFailure>) {
    switch result {
    case .success(let found): connect(found)
    case .failure(let failure):
      isDialling = false
      failed(.broken("the name \(configuration.endpoint.host) has no address: \(failure.words)"))
    }
  }

  /// Tries one address after the other; at the end of the list the attempt has failed.
  private func connect(_ found: [IPAddress]) {
    addresses = found
    connectToNext(after: .broken("there is no address"))
  }

  private func connectToNext(after cause: PushConnection.Cause) {
    var cause = cause
    while !isClosed, !addresses.isEmpty {
      let address = addresses.removeFirst()
      do throws(PushConnectionFailure) {
        let connection = try PushConnection(
          to: address, configuration.endpoint, context, configuration.patience, loop: loop, owner: self)
        connections.append(connection)
        dialled = connection
        return
      } catch {
        cause = .broken(error.text)
      }
    }
    isDialling = false
    failed(cause)
  }

  func opened(_ connection: PushConnection) {
    guard connection === dialled, connection.isOpen else { return }
    (isDialling, dialled) = (false, nil)
    addresses = []
    if hasLost { owner?.reconnected() }
    hasLost = false
  }

  func ended(_ request: PushRequest, _ ending: HTTP2Session.Ending, on connection: PushConnection) {
    switch ending {
    case .answered(let status, let body, let retryAfter):
      recover()
      answer(request, replies.read(status: status, body: body, retryAfter: retryAfter))
    case .notProcessed: sendAgain(request)
    case .broken(let why): finish(request, .lost(why))
    }
  }

  func closed(_ connection: PushConnection, _ cause: PushConnection.Cause, unanswered: [PushRequest]) {
    connections.removeAll { $0 === connection }
    let wasDialled = connection === dialled
    if wasDialled { dialled = nil }
    for request in unanswered { finish(request, isClosed ? .cancelled : .lost(loss(of: connection, cause))) }
    guard !isClosed else { return }
    if connection.hasOpened { hasLost = true }
    if wasDialled { return connectToNext(after: cause) }
    // A connection that answered is replaced at once; one that never did is no reason to hurry.
    guard !connection.hasAnswered else { return }
    failed(cause)
  }

  private func loss(of connection: PushConnection, _ cause: PushConnection.Cause) -> String {
    let text = "the connection was lost before the answer: \(cause.text)"
    return replies.reason(in: connection.farewell).map { "\(text) (\($0))" } ?? text
  }

  /// Notes that the server answers.
  private func recover() {
    pause.reset()
    guard hasComplained else { return }
    hasComplained = false
    owner?.notify("\(configuration.endpoint.authority) answers again")
  }

  /// No connection was to be had: pauses, and gives up what has waited for too long.
  private func failed(_ cause: PushConnection.Cause) {
    let text = "\(configuration.endpoint.authority) cannot be reached: \(cause.text)"
    if !hasComplained, !waiting.isEmpty {
      hasComplained = true
      owner?.notify(text)
    }
    waiting.giveUp(at: loop.now, after: cause.isFinal ? .zero : configuration.patience.unreachable) { finish($0, .unusable(text)) }
    let wait = pause.next(fraction: loop.machine.randomFraction)
    guard pauseTimer == nil else { return }
    pauseTimer = loop.schedule(at: loop.now.advanced(by: wait)) { [weak self] in self?.pauseTimer = nil }
  }

  // MARK: - Answers

  private func answer(_ request: PushRequest, _ reply: APNsReply) {
    guard APNsVerdict.of(reply).consequence == .renewToken, case .key = configuration.credentials else {
      return finish(request, .answered(reply))
    }
    request.expiredTokens += 1
    guard request.expiredTokens == 1, token.reject(request.tokenNumber, at: configuration.clock.uptime) == .sendAgain else {
      return finish(request, .answered(reply))
    }
    waiting.prepend(request)
  }

  private func sendAgain(_ request: PushRequest) {
    request.refusals += 1
    guard request.refusals <= Self.maximumRefusals, !isClosed else {
      return finish(request, isClosed ? .cancelled : .lost("the server refused the stream \(request.refusals) times"))
    }
    waiting.prepend(request)
  }
}

extension PushConnection.Cause {
  var text: String {
    switch self {
    case .broken(let why), .refused(let why): why
    case .ended: "the server closed it"
    }
  }

  /// Whether another attempt would end alike.
  var isFinal: Bool {
    switch self {
    case .refused: true
    case .broken, .ended: false
    }
  }
}

extension DNSFailure {
  /// One sentence's end.
  fileprivate var words: String {
    switch self {
    case .notFound: "it does not exist"
    case .failed: "the name servers failed"
    case .timeout: "the name servers did not answer"
    }
  }
}
