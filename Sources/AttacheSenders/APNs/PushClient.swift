internal import Attache
internal import AttacheQueue

/// Sends requests over HTTP/2 on its own thread. It manages connections and provider tokens, and
/// repeats requests where this is safe.
///
/// A request that the server certainly has not processed (streams above the last one of a GOAWAY,
/// refused streams) is sent again automatically. A request whose outcome is unknown ends as
/// ``RequestEnd/lost(_:)``.
///
/// `@unchecked Sendable`: after `init`, only the loop's thread uses the mutable state.
package final class PushClient: @unchecked Sendable {
  /// How often an unprocessed request is sent again.
  private static let maximumRefusals = 5

  private let configuration: APNsConfiguration
  private let loop: EventLoop
  private let resolver: any Resolver
  private let context: TLSContext
  private weak var owner: (any PushClientOwner)?

  private var waiting = RequestLine()
  private var connections: [PushConnection] = []
  private var addresses: [IPAddress] = []
  /// Whether a connection is being made, including the name lookup.
  private var isDialling = false
  /// The connection that is being made.
  private weak var dialled: PushConnection?
  private var pause: GrowingPause
  /// The timer until which no connection is attempted; nil when one may be.
  private var pauseTimer: TimerEntry?
  private var token = ProviderTokenState()
  private var replies = APNsReplyReader()
  private var ends: [(request: PushRequest, end: RequestEnd<APNsReply>)] = []
  /// Whether a connection was lost and not yet replaced.
  private var hasLost = false
  /// Whether the user was told that the server cannot be reached.
  private var hasComplained = false
  private var isClosed = false

  /// Sets everything up. Does not connect before the first request.
  ///
  /// - Throws: ``SenderSetupError`` when a file cannot be used or the system cannot start a thread.
  package init(_ configuration: APNsConfiguration, owner: any PushClientOwner) throws(SenderSetupError) {
    let certificate: String? =
      switch configuration.credentials {
      case .certificate(let path): path
      case .key: nil
      }
    context = try TLSContext(rootCertificates: configuration.rootCertificates, certificate: certificate)
    do throws(SystemError) {
      loop = try EventLoop(name: "apns")
    } catch {
      throw SenderSetupError("\(error)")
    }
    do throws(AresError) {
      resolver = try AresResolver(loop: loop)
    } catch {
      loop.stop()
      throw SenderSetupError("\(error)")
    }
    (self.configuration, self.owner) = (configuration, owner)
    pause = GrowingPause(first: configuration.timeLimits.firstPause, longest: configuration.timeLimits.longestPause)
    loop.atTurnEnd { [weak self] in self?.endTurn() }
  }

  /// Runs work on the client's thread, such as making requests, in the order of the calls. Any
  /// thread may call it.
  package func perform(_ work: @escaping @Sendable () -> Void) {
    loop.post(work)
  }

  /// Sends requests. Call it on the client's thread.
  package func send(_ requests: [PushRequest]) {
    for request in requests { isClosed ? finish(request, .unanswered) : waiting.append(request) }
  }

  /// Cancels all unanswered requests. Any thread may call it.
  package func cancel() {
    loop.post { [self] in
      while let request = waiting.popFirst() { finish(request, .unanswered) }
      isClosed = true
      for connection in connections { connection.end(.ended) }
    }
  }

  /// Ends the thread. Call it once everything is answered. Any thread may call it.
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

  /// Gives requests to the connections that have room, and opens another connection if needed.
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
      request.noteSubmission()
      room -= 1
    }
    connection.flush()
  }

  private func finish(_ request: PushRequest, _ end: RequestEnd<APNsReply>) {
    ends.append((request, end))
  }

  // MARK: - The provider token

  /// Whether requests may be sent: there is a token, or a client certificate instead. Makes a token
  /// when one is due.
  private func hasAuthorization() -> Bool {
    let wall = configuration.clock.wall
    guard case .key(let key) = configuration.credentials, token.isDue(at: wall) else { return true }
    guard let value = key.authorization(issuedAt: ProviderTokenState.start(at: wall)) else {
      guard !token.isUsable(at: wall) else { return true }
      while let request = waiting.popFirst() { finish(request, .unusable("no provider token could be made: libcrypto cannot sign")) }
      return false
    }
    token.take(value, at: wall)
    return true
  }
}

// MARK: - Connections

extension PushClient: PushConnectionOwner {
  /// Starts a connection if one more may help.
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

  /// Tries the addresses one after the other. After the last one, the attempt has failed.
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
          to: address, configuration.endpoint, context, configuration.timeLimits, loop: loop, owner: self)
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
    for request in unanswered { finish(request, isClosed ? .unanswered : .lost(loss(of: connection, cause))) }
    guard !isClosed else { return }
    if connection.hasOpened { hasLost = true }
    if wasDialled { return connectToNext(after: cause) }
    // A connection that answered is replaced at once. One that never answered counts as a failure.
    guard !connection.hasAnswered else { return }
    failed(cause)
  }

  private func loss(of connection: PushConnection, _ cause: PushConnection.Cause) -> String {
    let text = "the connection was lost before the answer: \(cause.text)"
    return replies.reason(in: connection.goAwayData).map { "\(text) (\($0))" } ?? text
  }

  /// Records that the server answers.
  private func recover() {
    pause.reset()
    guard hasComplained else { return }
    hasComplained = false
    owner?.notify("\(configuration.endpoint.authority) answers again")
  }

  /// Handles a failed attempt to connect: pauses, and gives up the requests that have waited too
  /// long.
  private func failed(_ cause: PushConnection.Cause) {
    let text = "\(configuration.endpoint.authority) cannot be reached: \(cause.text)"
    // Requests that wait for room on another connection say nothing about the server.
    if !connections.contains(where: \.isOpen) {
      if !hasComplained, !waiting.isEmpty {
        hasComplained = true
        owner?.notify(text)
      }
      waiting.giveUp(at: loop.now, after: cause.isFinal ? .zero : configuration.timeLimits.unreachable) { finish($0, .unusable(text)) }
    }
    let pause = pause.next()
    guard pauseTimer == nil else { return }
    // Senders that lost one server do not reconnect at the same instant.
    let wait = pause - pause * (loop.machine.randomFraction / 2)
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
      return finish(request, isClosed ? .unanswered : .lost("the server refused the stream \(request.refusals) times"))
    }
    waiting.prepend(request)
  }
}
