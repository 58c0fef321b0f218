internal import Attache
internal import AttacheQueue

/// Sends messages over HTTP/2, and manages the access token.
///
/// `@unchecked Sendable`: after `init`, only the client's thread uses the mutable state.
package final class FCMClient: @unchecked Sendable {
  /// What a request of the HTTP client is for.
  private enum Purpose: Sendable {
    case accessToken(requestedAt: Duration)
    case message(FCMRequest)
  }

  private let configuration: FCMConfiguration
  private let http: HTTPClient<Purpose>
  private let url: String
  private let parser = JSONParser(capacity: FCMReply.maximumBody)
  private var take: ([(request: FCMRequest, end: RequestEnd<FCMReply>)]) -> Void = { _ in }
  /// The messages that wait for an access token.
  private var waiting: [FCMRequest] = []
  private var token: AccessToken?
  private var tokenCount = 0
  /// Whether an access token is requested, or its renewal has just failed.
  private var isRequesting = false

  /// The maximum number of connections. Google's have at least 100 streams each.
  private static let connections = 4
  /// The pause after a renewal that failed, while the old token can be used.
  private static let renewalPause = Duration.seconds(30)

  /// Sets everything up. Does not connect before the first request.
  ///
  /// - Throws: ``HTTPSenderError`` when a file cannot be used or the system cannot start a thread.
  package init(_ configuration: FCMConfiguration) throws(HTTPSenderError) {
    self.configuration = configuration
    url = "https://\(configuration.endpoint.authority)/v1/projects/\(configuration.account.projectID)/messages:send"
    http = try HTTPClient(
      HTTPClientConfiguration(
        rootCertificates: configuration.rootCertificates, answerTimeout: configuration.answerTimeout, connections: Self.connections,
        keptLength: FCMReply.maximumBody, statusesWithBody: 200...599))
  }

  /// Passes the ends of requests to `take` from now on, on the client's thread.
  package func start(_ take: @escaping @Sendable ([(request: FCMRequest, end: RequestEnd<FCMReply>)]) -> Void) {
    http.perform { [self] in self.take = take }
    http.start { [weak self] ends in self?.handle(ends) }
  }

  /// Runs work on the client's thread, such as making requests, in the order of the calls. Any thread may
  /// call it, ``cancel()`` and ``close()``.
  package func perform(_ work: @escaping @Sendable () -> Void) {
    http.perform(work)
  }

  /// Sends requests. Call it on the client's thread.
  package func send(_ requests: [FCMRequest]) {
    waiting += requests
    pump()
  }

  /// Ends all unanswered requests as ``RequestEnd/unanswered``.
  package func cancel() {
    http.cancel()
    http.perform { [self] in end { _ in .unanswered } }
  }

  package func close() {
    http.close()
  }

  /// Sends what waits, if there is an access token.
  private func pump() {
    guard !waiting.isEmpty else { return }
    let now = configuration.clock.uptime
    if token?.isDue(at: now) ?? true { requestToken(at: now) }
    guard let token, token.isUsable(at: now) else { return }
    let fields = ["Content-Type: application/json", "Authorization: Bearer \(token.value)"]
    for request in waiting {
      request.accessToken = token.number
      http.send(HTTPPost(url: url, fields: fields, body: request.body), .message(request))
    }
    waiting.removeAll(keepingCapacity: true)
  }

  private func handle(_ ends: [(context: Purpose, end: RequestEnd<HTTPReply>)]) {
    var ended: [(request: FCMRequest, end: RequestEnd<FCMReply>)] = []
    ended.reserveCapacity(ends.count)
    for (purpose, end) in ends {
      switch purpose {
      case .accessToken(let requestedAt): takeToken(end, requestedAt: requestedAt)
      case .message(let request):
        if let end = self.end(request, end) { ended.append((request, end)) }
      }
    }
    if !ended.isEmpty { take(ended) }
    pump()
  }

  // MARK: - The access token

  private func requestToken(at now: Duration) {
    guard !isRequesting else { return }
    guard let post = configuration.account.tokenRequest(at: configuration.clock.wall) else {
      return refuse(.unusable("no access token can be requested: libcrypto cannot sign"))
    }
    isRequesting = true
    http.send(post, .accessToken(requestedAt: now))
  }

  private func takeToken(_ end: RequestEnd<HTTPReply>, requestedAt: Duration) {
    let server = configuration.account.tokenURI
    switch end {
    case .answered(let reply):
      guard let token = AccessToken(reply, number: tokenCount + 1, at: requestedAt, parser) else {
        let why = "\(server) issues no access token: \(AccessToken.refusal(reply, parser))"
        return refuse(400...499 ~= reply.status ? .refused(why) : .unusable(why))
      }
      tokenCount += 1
      guard token.isUsable(at: configuration.clock.uptime) else {
        return refuse(.unusable("\(server) issues an access token that has ended already"))
      }
      (self.token, isRequesting) = (token, false)
    case .lost(let why), .unusable(let why), .refused(let why): refuse(.unusable("no access token: \(server): \(why)"))
    case .unanswered:
      isRequesting = false
      self.end { _ in .unanswered }
    }
  }

  /// Handles a failed request for an access token. The old one is used while it can be.
  private func refuse(_ reason: RequestEnd<FCMReply>) {
    guard let token, token.isUsable(at: configuration.clock.uptime) else {
      isRequesting = false
      return end { _ in reason }
    }
    isRequesting = true
    http.perform(after: Self.renewalPause) { [weak self] in
      self?.isRequesting = false
      self?.pump()
    }
  }

  /// Ends all that waits.
  private func end(_ end: (FCMRequest) -> RequestEnd<FCMReply>) {
    guard !waiting.isEmpty else { return }
    let ended = waiting.map { (request: $0, end: end($0)) }
    waiting = []
    take(ended)
  }

  // MARK: - Answers

  /// Returns how a request ended; nil when it is sent again.
  private func end(_ request: FCMRequest, _ end: RequestEnd<HTTPReply>) -> RequestEnd<FCMReply>? {
    switch end {
    case .answered(let answer):
      let reply = FCMReply(answer, parser)
      guard FCMVerdict.of(reply).consequence == .renewToken else { return .answered(reply) }
      if request.accessToken == token?.number { token = nil }
      guard !request.hasNewToken else { return .answered(reply) }
      request.hasNewToken = true
      waiting.append(request)
      return nil
    case .lost(let why): return .lost(why)
    case .unusable(let why): return .unusable("\(configuration.endpoint.authority): \(why)")
    case .refused(let why): return .refused(why)
    case .unanswered: return .unanswered
    }
  }
}
