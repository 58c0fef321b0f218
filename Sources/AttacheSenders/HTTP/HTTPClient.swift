internal import Attache
internal import AttacheQueue
internal import CCurl

/// Sends the requests of an ``HTTPSender`` on its own thread.
///
/// `@unchecked Sendable`: after `init`, only the loop's thread uses the mutable state.
final class HTTPClient: @unchecked Sendable {
  private let configuration: HTTPSender.Configuration
  private let loop: EventLoop
  private let multi: CurlMulti
  private let isSecure: Bool
  private weak var owner: (any SenderOwner)?
  /// The requests in progress.
  private var running: [ObjectIdentifier: HTTPRequest] = [:]
  private var idle: [HTTPRequest] = []
  private var bearer = TokenFile()
  private let parser = JSONParser(capacity: HTTPAcceptance.maximumLength)
  /// Answers that the owner gets at the end of the turn.
  private var ended: [(token: LeaseToken, answer: DeliveryAnswer)] = []
  /// When the endpoint last answered.
  private var answeredAt = MonotonicInstant.distantPast
  private var isCancelled = false

  /// How long a request waits for another one's connection, at most, before it gets its own.
  private static let longestShare = Duration.seconds(1)

  init(_ configuration: HTTPSender.Configuration) throws(HTTPSenderError) {
    self.configuration = configuration
    isSecure = configuration.url.utf8.starts(with: "https://".utf8)
    do throws(SystemError) { loop = try EventLoop(name: "sender") } catch { throw .option("the sender", reason: "\(error)") }
    do {
      multi = try CurlMulti(loop: loop, idleConnections: configuration.connections, connectionsPerHost: configuration.connections)
      // Reject a wrong configuration now, not at the first result.
      idle = [try HTTPRequest(configuration)]
    } catch {
      loop.stop()
      throw error as? HTTPSenderError ?? .option("--http", reason: "\(error)")
    }
    loop.atTurnEnd { [weak self] in self?.endTurn() }
  }

  /// Sends to the owner from now on.
  ///
  /// - Throws: ``HTTPSenderError`` when the file with the token cannot be used.
  func start(_ owner: any SenderOwner) throws(HTTPSenderError) {
    _ = try token()
    loop.post { self.owner = owner }
  }

  /// Any thread may call this, ``cancel()`` and ``close()``.
  func send(_ deliveries: [Delivery]) {
    loop.post { [self] in for delivery in deliveries { begin(delivery) } }
  }

  /// Answers all requests in progress, and those that follow, as `unanswered` unless they have another answer.
  func cancel() {
    loop.post { [self] in
      isCancelled = true
      deliverEnds()
      for request in running.values {
        multi.remove(request)
        finish(request, .unanswered)
      }
    }
  }

  func close() {
    loop.post { self.multi.shutdown() }
    loop.stop()
  }

  private func endTurn() {
    deliverEnds()
    guard !ended.isEmpty else { return }
    let answers = ended
    ended.removeAll(keepingCapacity: true)
    owner?.take(answers)
  }

  private func deliverEnds() {
    multi.deliverEnds { handle, code in
      guard let request = handle as? HTTPRequest else { return }
      if let answer = answer(request, request.end(code, parser), isLate: code == CURLE_OPERATION_TIMEDOUT) { finish(request, answer) }
    }
  }

  /// The token in the configuration's file; nil without a file.
  private func token() throws(HTTPSenderError) -> String? {
    guard let file = configuration.bearerFile else { return nil }
    return try bearer.read(file)
  }

  // MARK: - A request

  private func begin(_ delivery: Delivery) {
    guard !isCancelled else { return ended.append((delivery.token, .unanswered)) }
    do {
      let request = if let idle = idle.popLast() { idle } else { try HTTPRequest(configuration) }
      try request.prepare(delivery, token: token())
      start(request, shares: isSecure, isFresh: false)
    } catch {
      ended.append((delivery.token, .refused(reason: "\(error)")))
    }
  }

  /// Starts a try. libcurl has no time limit for the wait for a connection, so a timer ends it.
  private func start(_ request: HTTPRequest, shares: Bool, isFresh: Bool) {
    do throws(CurlError) {
      try request.begin(shares: shares, isFresh: isFresh)
      try multi.add(request)
      running[ObjectIdentifier(request)] = request
      let limit = shares ? min(Self.longestShare, configuration.answerTimeout / 4) : configuration.answerTimeout
      request.timer = loop.schedule(at: loop.now.advanced(by: limit)) { [unowned self, unowned request] in
        endWait(request, shares: shares)
      }
    } catch {
      finish(request, .refused(reason: "\(error)"))
    }
  }

  /// Ends a wait that is too long: for another request's connection, or for any connection.
  private func endWait(_ request: HTTPRequest, shares: Bool) {
    request.timer = nil
    guard !request.hasTried, !request.isSent else { return }
    multi.remove(request)
    shares ? start(request, shares: false, isFresh: true) : finish(request, .unanswered)
  }

  /// Returns the answer that the end of a request means; nil when it is sent again.
  private func answer(_ request: HTTPRequest, _ end: HTTPRequest.End, isLate: Bool) -> DeliveryAnswer? {
    switch end {
    case .answered(let answer):
      answeredAt = .now
      return answer
    case .broken(let text): return .retry(after: nil, reason: text)
    case .unsent(let text):
      // It says something about the endpoint only if a connection of its own has failed, too, and
      // the endpoint has answered no other request meanwhile.
      if request.isFirst, !(isLate && request.hasTried) {
        stop(request)
        start(request, shares: false, isFresh: true)
        return nil
      }
      return request.hasTried && answeredAt < request.start ? .refused(reason: text) : .unanswered
    }
  }

  private func finish(_ request: HTTPRequest, _ answer: DeliveryAnswer) {
    stop(request)
    running[ObjectIdentifier(request)] = nil
    if let token = request.token { ended.append((token, answer)) }
    idle.append(request)
  }

  private func stop(_ request: HTTPRequest) {
    if let timer = request.timer { loop.cancel(timer) }
    request.timer = nil
  }
}
