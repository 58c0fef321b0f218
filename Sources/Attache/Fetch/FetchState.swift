/// The state machine of one fetch. A pure value: ``Fetch`` reports events to it and carries out the
/// actions that it returns.
///
/// A hop is looked up in the index, resolved and checked. Then it waits for a place at its origin
/// and is transferred. A redirect begins again; a retry resolves the host again. An event that the
/// phase does not expect is ignored.
struct FetchState {
  /// The rules that all fetches of an engine share.
  final class Rules: Sendable {
    let gate: URLGate
    /// The proxy of all transfers; nil for direct connections.
    let proxy: Proxy?
    let limits: DownloadLimits
    /// Whether there is an index of earlier fetches.
    let hasIndex: Bool

    init(gate: URLGate, proxy: Proxy? = nil, limits: DownloadLimits, hasIndex: Bool) {
      (self.gate, self.proxy, self.limits, self.hasIndex) = (gate, proxy, limits, hasIndex)
    }
  }

  /// The maximum number of redirects, as designed. Browsers follow 20, Apple's loading system 16.
  static let maximumHops = 5

  let rules: Rules
  /// Why the circuit breaker refuses to send the request: only a fresh entry of the index may be
  /// handed out, without a look at its host. nil when the request may be sent.
  let refusal: FetchFailure?
  /// The operator's header lines for the first URL's origin, and that origin.
  private let originFields: [String]
  private let origin: String
  private(set) var phase = Phase.pausing
  /// The URL of the current hop.
  private(set) var url: CheckedURL
  private(set) var visited: Set<String> = []
  /// The number of attempts at the hop.
  private(set) var tries = 0
  private(set) var addresses: [IPAddress] = []
  private(set) var avoidsHTTP2 = false
  /// The HTTP cache's state of the hop.
  var reuse = FetchCacheState()

  // The latest exchange.
  private(set) var verdict: ResponseVerdict?
  private var status = 0
  /// Why this side stopped the exchange.
  private(set) var failure: FetchFailure?

  /// Whether the response or a URL on the way says that the file is not for everybody.
  private var isPrivate: Bool

  // The body, which may come from several exchanges.
  /// The number of the body. Bytes and detector results with an earlier number are dropped.
  private(set) var body = 0
  /// In bytes.
  private(set) var received = 0
  /// The length of the complete body, if the origin sends it.
  private(set) var length: Int?
  /// Whether the response shows where the body ends: by its length, by chunks, or over TLS, where the
  /// transport refuses a body that its connection cuts off.
  private(set) var isEndCertain = false
  private(set) var entityTag: String?
  private(set) var type: MediaType?

  init(_ url: CheckedURL, fields: [String] = [], _ rules: Rules, refusal: FetchFailure? = nil) {
    (self.url, self.rules, self.refusal) = (url, rules, refusal)
    (originFields, origin) = (fields, url.origin)
    isPrivate = SignedURL.looksSigned(url.text) || !fields.isEmpty
  }

  /// The operator's header lines for the hop. A redirect to another origin gets none.
  var fields: [String] { originFields.isEmpty || url.origin != origin ? [] : originFields }

  // MARK: What happens

  /// Handles an event.
  ///
  /// - Returns: the action to carry out.
  mutating func handle(_ event: Event) -> Action {
    switch (phase, event) {
    case (.over, _): .none
    case (_, .failed(let failure)): end(.fail(failure))
    case (.pausing, .begun): begin()
    case (.lookingUp, .lookedUp(let answer)): handle(answer)
    case (.resolving, .resolved(let result)): handle(result)
    case (.confirming, .confirmed(let isThere)): confirm(isThere)
    case (.revalidating, .confirmed(let isThere)): revalidate(isThere)
    case (.waiting, .placeGranted): transfer()
    case (.transferring, .head(let head, let moment)): judge(head, at: moment)
    case (.transferring, .body(let count)): take(count)
    case (_, .recognised(let type)): recognise(type)
    case (.transferring, .refused(let failure)): refuse(failure)
    case (.transferring, .ended(let exchange)): judge(exchange)
    case (.storing, .stored(let file)), (.converting, .stored(let file)): end(.handOut(marked(file)))
    case (.storing, .completed): go(to: .converting, .convert)
    case (_, _): .none
    }
  }

  private mutating func go(to phase: Phase, _ action: Action) -> Action {
    self.phase = phase
    return action
  }

  private mutating func end(_ action: Action) -> Action { go(to: .over, action) }

  // MARK: The way to the origin

  private mutating func begin() -> Action {
    if visited.insert(url.text).inserted {
      tries = 0
      if rules.hasIndex { return go(to: .lookingUp, .lookUp) }
    }
    return resolve()
  }

  private mutating func handle(_ answer: HTTPCache.LookupResult) -> Action {
    reuse.handle(answer)
    if case .fresh(let entry) = answer { return serve(entry) }
    return resolve()
  }

  private mutating func resolve() -> Action {
    if let refusal { return end(.fail(refusal)) }
    if let address = rules.proxy == nil ? url.address : rules.proxy?.address { return check([address]) }
    return go(to: .resolving, .resolve(host: rules.proxy?.host ?? url.host))
  }

  private mutating func handle(_ result: Result<[IPAddress], DNSFailure>) -> Action {
    switch result {
    case .success(let addresses): return check(addresses)
    case .failure(let failure):
      let failure = FetchFailure(failure, host: rules.proxy?.host ?? url.host)
      return end(.fail(rules.proxy == nil ? failure : FetchFailure(reason: .connectProxy, message: "the proxy: \(failure.message)")))
    }
  }

  /// Checks all addresses: one forbidden address refuses the host. With a proxy these are the
  /// proxy's addresses, which the address gate does not check.
  private mutating func check(_ addresses: [IPAddress]) -> Action {
    do throws(Refusal) {
      if let proxy = rules.proxy {
        try proxy.check(url, at: addresses)
      } else {
        try rules.gate.addressGate.check(answer: addresses, for: url)
      }
    } catch {
      return end(.fail(FetchFailure(isRedirected ? error.onRedirect : error)))
    }
    self.addresses = addresses
    if reuse.isFresh, let entry = reuse.entry { return go(to: .confirming, .confirm(entry.file)) }
    return go(to: .waiting, .enter)
  }

  private mutating func confirm(_ isThere: Bool) -> Action {
    if isThere, let entry = reuse.entry { return serve(entry) }
    reuse.dropEntry()
    return go(to: .waiting, .enter)
  }

  private mutating func serve(_ entry: CacheEntry) -> Action {
    reuse.trust(until: entry.expiry)
    return serve(entry, as: .hit)
  }

  private mutating func serve(_ entry: CacheEntry, as cache: MediaRecord.Cache) -> Action {
    var entry = entry
    entry.file = marked(entry.file)
    return end(.serve(entry, as: cache))
  }

  private func marked(_ file: StoredFile) -> StoredFile {
    var file = file
    file.isPrivate = isPrivate
    return file
  }

  private mutating func transfer() -> Action {
    tries += 1
    (verdict, failure) = (nil, nil)
    return go(to: .transferring, .transfer)
  }

  // MARK: The exchange

  private mutating func judge(_ head: ResponseHead, at moment: Duration?) -> Action {
    let verdict = Acceptance.judge(
      head, resumingFrom: resumption?.offset ?? 0, validator: resumption?.validator, isConditional: !conditions.isEmpty)
    (self.verdict, status) = (verdict, head.status)
    if let moment { reuse.handle(head, at: moment) }
    if head.status < 300 || head.status == 304 { isPrivate = isPrivate || head.caching.isPrivate }
    if rules.proxy != nil, head.status == 407 { return refuse(FetchFailure(proxyStatus: 407)) }
    guard case .body(let length, let resumes) = verdict else {
      // Receiving an unwanted body is not worth the wait. If there is no body, the connection can
      // be reused.
      return verdict == .unchanged || head.contentLengths == ["0"] && head.transferEncodings.isEmpty ? .proceed : .stop
    }
    if !resumes { startOver() }
    if resumes, let known = self.length, known != length { return refuse(FetchFailure(reason: .httpFraming)) }
    self.length = length
    isEndCertain = length != nil || head.isChunked || url.scheme == .https
    entityTag = head.acceptsRanges ? CacheEntry.validator(head.entityTag) : nil
    return checkLength()
  }

  private mutating func take(_ count: Int) -> Action {
    guard case .body = verdict else { return verdict == nil ? refuse(FetchFailure(reason: .httpProtocol)) : .stop }
    received += count
    return checkLength()
  }

  private mutating func recognise(_ type: MediaType) -> Action {
    self.type = type
    return failure == nil ? checkLength() : .stop
  }

  private mutating func refuse(_ failure: FetchFailure) -> Action {
    self.failure = failure
    return .stop
  }

  /// Checks whether the body is within its limit, as far as its length and its kind are known.
  private mutating func checkLength() -> Action {
    let size = max(length ?? 0, received)
    guard size > type.map({ rules.limits[$0.kind] }) ?? rules.limits.largest else { return failure == nil ? .proceed : .stop }
    return refuse(
      type.map { FetchFailure(tooLarge: $0.kind, limits: rules.limits) }
        ?? FetchFailure(
          reason: .sizeLimit, message: "the file is larger than \(rules.limits.largest) bytes, the largest limit; shrink it"))
  }

  private mutating func judge(_ exchange: TransferEnd) -> Action {
    avoidsHTTP2 = avoidsHTTP2 || exchange.isDoubtful
    if let failure { return end(.fail(failure)) }
    if let refusal = exchange.refusal { return end(.fail(FetchFailure(isRedirected ? refusal.onRedirect : refusal))) }
    switch verdict {
    case .redirect(let location): return follow(location)
    case .refuse(_, let coding?): return end(.fail(FetchFailure(coding: coding)))
    case .refuse(let reason, nil): return end(.fail(FetchFailure(reason, status: status)))
    case .retry(let reason): return tryAgain(after: FetchFailure(reason, status: status, tries: tries), asked: exchange.retryAfter)
    case .unchanged where exchange.failure == nil: return takeUnchanged()
    case .body where exchange.failure == nil && (length ?? received) == received: return go(to: .storing, .finish)
    case .unchanged, .body, nil: return takeBroken(exchange)
    }
  }

  private mutating func takeBroken(_ exchange: TransferEnd) -> Action {
    let reason = exchange.failure ?? .httpTruncated
    let failure = FetchFailure(reason, of: exchange, host: url.host)
    // A peer that declines the handshake, or a proxy that responds with an error status, would do
    // so again.
    let isDeclined = !exchange.isUnanswered && (reason == .tlsHandshake || reason == .connectProxy)
    return reason.isRetryable(status: nil) && !isDeclined ? tryAgain(after: failure, asked: nil) : end(.fail(failure))
  }

  private mutating func follow(_ location: [UInt8]) -> Action {
    guard visited.count <= Self.maximumHops else {
      return end(.fail(FetchFailure(reason: .httpRedirect, message: "more than \(Self.maximumHops) redirects")))
    }
    do throws(Refusal) {
      url = try rules.gate.redirect(to: location, from: url)
    } catch {
      return end(.fail(FetchFailure(error)))
    }
    isPrivate = isPrivate || SignedURL.looksSigned(url.text)
    guard !visited.contains(url.text) else {
      return end(.fail(FetchFailure(reason: .httpRedirect, message: "the redirects form a loop")))
    }
    startOver()
    return begin()
  }

  private mutating func tryAgain(after failure: FetchFailure, asked: Duration?) -> Action {
    if resumption == nil { startOver() }
    return go(to: .pausing, .pause(after: failure, asked: asked))
  }

  /// Handles a 304: the cached file is still valid.
  private mutating func takeUnchanged() -> Action {
    guard let entry = reuse.entry, !reuse.isForOtherEntity else { return refetch() }
    return go(to: .revalidating, .confirm(entry.file))
  }

  private mutating func revalidate(_ isThere: Bool) -> Action {
    guard isThere, let entry = reuse.entry else { return refetch() }
    return serve(entry, as: .revalidated)
  }

  /// Sends the request again without a condition.
  private mutating func refetch() -> Action {
    reuse.dropEntry()
    return resolve()
  }

  /// Discards the body received so far.
  private mutating func startOver() {
    body += 1
    (received, length, entityTag, type, isEndCertain) = (0, nil, nil, nil, false)
  }
}
