internal import Attache
internal import CCurl

/// Sends POST requests on its own thread. Requests to the same server share a connection if they can.
///
/// `Context` is what the owner gets back with the end of a request.
///
/// `@unchecked Sendable`: after `init`, only the loop's thread uses the mutable state.
final class HTTPClient<Context: Sendable>: @unchecked Sendable {
  typealias End = (context: Context, end: RequestEnd<HTTPReply>)

  /// A request in progress.
  private struct Running {
    let request: HTTPRequest
    let context: Context
    let multi: CurlMulti
  }

  private let configuration: HTTPClientConfiguration
  private let loop: EventLoop
  /// Receives the requests. It is replaced when its connections seem to be dead.
  private var multi: CurlMulti
  /// What was replaced, while it has requests.
  private var retired: [CurlMulti] = []
  /// Handles the ends of a turn.
  private var take: ([End]) -> Void = { _ in }
  private var running: [ObjectIdentifier: Running] = [:]
  private var idle: [HTTPRequest] = []
  private var ended: [End] = []
  /// When each URL last answered.
  private var answeredAt: [String: MonotonicInstant] = [:]
  private var isCancelled = false

  /// How long a request waits for another one's connection, at most, before it gets its own.
  private var longestShare: Duration { min(.seconds(1), configuration.answerTimeout / 4) }

  init(_ configuration: HTTPClientConfiguration) throws(HTTPSenderError) {
    self.configuration = configuration
    do throws(SystemError) { loop = try EventLoop(name: "sender") } catch { throw .option("the sender", reason: "\(error)") }
    do {
      multi = try Self.makeMulti(loop, configuration)
      // Reject a wrong configuration now, not at the first result.
      idle = [try HTTPRequest(configuration)]
    } catch {
      loop.stop()
      throw error as? HTTPSenderError ?? .option("the sender", reason: "\(error)")
    }
    loop.atTurnEnd { [weak self] in self?.endTurn() }
  }

  private static func makeMulti(_ loop: EventLoop, _ configuration: HTTPClientConfiguration) throws(CurlError) -> CurlMulti {
    try CurlMulti(loop: loop, idleConnections: configuration.connections, connectionsPerHost: configuration.connections)
  }

  /// Passes the ends of requests to `take` from now on, on the client's thread.
  func start(_ take: @escaping @Sendable ([End]) -> Void) {
    loop.post { self.take = take }
  }

  /// Runs work on the client's thread, in the order of the calls. Any thread may call this, ``cancel()``
  /// and ``close()``.
  func perform(_ work: @escaping @Sendable () -> Void) {
    loop.post(work)
  }

  /// Runs work on the client's thread after a while. Call it there.
  func perform(after span: Duration, _ work: @escaping () -> Void) {
    _ = loop.schedule(at: loop.now.advanced(by: span), work)
  }

  /// Sends a request. Call it on the client's thread.
  func send(_ post: HTTPPost, _ context: Context) {
    guard !isCancelled else { return end(context, .unanswered) }
    do {
      let request = if let idle = idle.popLast() { idle } else { try HTTPRequest(configuration) }
      try request.prepare(post)
      start(Running(request: request, context: context, multi: multi), shares: request.isSecure, isFresh: false)
    } catch {
      end(context, .unusable("\(error)"))
    }
  }

  /// Ends a request that was not sent. Call it on the client's thread.
  func end(_ context: Context, _ end: RequestEnd<HTTPReply>) {
    ended.append((context, end))
  }

  /// Ends all requests in progress, and those that follow, as `unanswered` unless they have another end.
  func cancel() {
    loop.post { [self] in
      isCancelled = true
      deliverEnds()
      for entry in running.values {
        entry.multi.remove(entry.request)
        finish(entry, .unanswered)
      }
    }
  }

  func close() {
    loop.post { [self] in for multi in retired + [multi] { multi.shutdown() } }
    loop.stop()
  }

  private func endTurn() {
    deliverEnds()
    // Its owner may send again, and that may end at once.
    while !ended.isEmpty {
      let ends = ended
      ended = []
      take(ends)
    }
  }

  private func deliverEnds() {
    for multi in retired + [multi] {
      multi.deliverEnds { handle, code in
        guard let request = handle as? HTTPRequest, let entry = running[ObjectIdentifier(request)] else { return }
        let isLate = code == CURLE_OPERATION_TIMEDOUT
        if isLate { replace(entry) }
        if let end = end(entry, request.end(code), isLate: isLate) { finish(entry, end) }
      }
    }
    retired.removeAll { multi in
      guard multi.isIdle else { return false }
      multi.shutdown()
      return true
    }
  }

  /// Replaces the connections of a late request, if their server has answered nothing since the request
  /// began: libcurl itself would use them as long as the system does not call them broken.
  private func replace(_ late: Running) {
    guard late.multi === multi, late.request.isSent, !hasAnswered(since: late.request), let new = try? Self.makeMulti(loop, configuration)
    else { return }
    retired.append(multi)
    multi = new
  }

  private func hasAnswered(since request: HTTPRequest) -> Bool {
    answeredAt[request.url].map { $0 >= request.start } ?? false
  }

  // MARK: - A request

  /// Starts a try. libcurl has no time limit for the wait for a connection, so a timer ends it.
  private func start(_ entry: Running, shares: Bool, isFresh: Bool) {
    let request = entry.request
    do throws(CurlError) {
      try request.begin(shares: shares, isFresh: isFresh)
      try entry.multi.add(request)
      running[ObjectIdentifier(request)] = entry
      let limit = shares ? longestShare : configuration.answerTimeout
      request.timer = loop.schedule(at: loop.now.advanced(by: limit)) { [unowned self] in endWait(entry, shares: shares) }
    } catch {
      finish(entry, .unusable("\(error)"))
    }
  }

  /// Ends a wait that is too long: for another request's connection, or for any connection.
  private func endWait(_ entry: Running, shares: Bool) {
    let request = entry.request
    request.timer = nil
    guard !request.hasTried, !request.isSent else { return }
    entry.multi.remove(request)
    shares ? start(entry, shares: false, isFresh: true) : finish(entry, .unanswered)
  }

  /// Returns how a request ended; nil when it is sent again.
  private func end(_ entry: Running, _ end: HTTPRequest.End, isLate: Bool) -> RequestEnd<HTTPReply>? {
    let request = entry.request
    switch end {
    case .answered(let reply):
      answeredAt[request.url] = .now
      return .answered(reply)
    case .broken(let text): return .lost(text)
    case .unsent(let text):
      // It says something about the endpoint only if a connection of its own has failed, too, and
      // the endpoint has answered no other request meanwhile.
      if request.isFirst, !(isLate && request.hasTried) {
        stop(request)
        start(entry, shares: false, isFresh: true)
        return nil
      }
      return request.hasTried && !hasAnswered(since: request) ? .unusable(text) : .unanswered
    }
  }

  private func finish(_ entry: Running, _ end: RequestEnd<HTTPReply>) {
    stop(entry.request)
    running[ObjectIdentifier(entry.request)] = nil
    ended.append((entry.context, end))
    idle.append(entry.request)
  }

  private func stop(_ request: HTTPRequest) {
    if let timer = request.timer { loop.cancel(timer) }
    request.timer = nil
  }
}

/// The limits of an ``HTTPClient``.
struct HTTPClientConfiguration: Sendable {
  /// The path of a PEM file of root certificates; nil uses the system's.
  var rootCertificates: String?
  /// The maximum time for an answer.
  var answerTimeout: Duration
  /// The maximum number of connections to a server.
  var connections: Int
  /// The number of bytes of a response's body that are kept.
  var keptLength: Int
  /// The statuses that count only with the whole body. Any other counts whatever happens to its body.
  var statusesWithBody: ClosedRange<Int>?
}
