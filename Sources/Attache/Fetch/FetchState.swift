/// How far one fetch is, and what it does next. A pure value: ``Fetch`` tells it what has happened,
/// and does what it answers.
///
/// A hop is looked up in the index, resolved and checked; then it waits for a place at its origin
/// and is transferred. A redirect, and a further try, begin again. An event that the phase does not
/// wait for is ignored.
struct FetchState {
  /// What is the same for all fetches of an engine.
  final class Rules: Sendable {
    let gate: URLGate
    /// What everything goes through; nil is the straight way.
    let proxy: Proxy?
    let limits: MediaLimits
    /// Whether there is an index of what was fetched before.
    let hasIndex: Bool

    init(gate: URLGate, proxy: Proxy? = nil, limits: MediaLimits, hasIndex: Bool) {
      (self.gate, self.proxy, self.limits, self.hasIndex) = (gate, proxy, limits, hasIndex)
    }
  }

  /// What it waits for.
  enum Phase: Equatable {
    /// To begin: at first, and before a further try.
    case pausing
    /// The index's answer about the hop.
    case lookingUp
    /// The circuit breaker's word, before the host is resolved.
    case approaching
    case resolving
    /// Whether the file of a fresh answer is still there.
    case confirming
    /// A place at the origin.
    case waiting
    /// The circuit breaker's word, before the request is sent.
    case starting
    case transferring
    /// Whether the store still has the file that a 304 says is unchanged.
    case revalidating
    /// The file, all of whose bytes have come.
    case storing
    case over
  }

  /// What has happened.
  enum Event {
    case begun
    case lookedUp(HTTPCache.LookupResult)
    case admitted(Bool)
    case resolved(Result<[IPAddress], DNSFailure>)
    case confirmed(Bool)
    case placeGranted
    /// - Parameter moment: when it came, by the wall clock; nil where there is no index.
    case head(ResponseHead, at: Duration?)
    /// So many bytes of the body, in the middle of a transfer.
    case body(Int)
    /// What the bytes are. The detector may say so between two tries, too.
    case recognised(MediaType)
    /// The bytes are not wanted, in the middle of a transfer.
    case refused(FetchFailure)
    case ended(TransferEnd)
    /// The file is in the store.
    case stored(StoredFile)
    case failed(FetchFailure)
  }

  /// What is to be done.
  enum Action: Equatable {
    /// Nothing, until something happens.
    case none
    case lookUp
    case askBreaker
    case resolve(host: String)
    case confirm(StoredFile)
    /// Wait for a place at the origin.
    case enter
    /// Send the request.
    case transfer
    /// Go on with the transfer, or break it off.
    case proceed, stop
    /// End the file, all of whose bytes have come.
    case finish
    /// Begin again after a pause, if the budget has room for it; else fail.
    case pause(after: FetchFailure, asked: Duration?)
    /// Hand out the file that has come.
    case handOut(StoredFile)
    /// Hand out a file that the store had.
    case serve(CacheEntry, as: MediaRecord.Cache)
    case fail(FetchFailure)
  }

  /// Redirects followed at most, as the design says; browsers follow 20, Apple's loading system 16.
  static let maximumHops = 5

  private let rules: Rules
  private(set) var phase = Phase.pausing
  /// The hop at hand.
  private(set) var url: CheckedURL
  private var visited: Set<String> = []
  /// How many tries of the hop were begun, and what the one before came to.
  private(set) var tries = 0
  private var earlier: FetchFailure?
  private var addresses: [IPAddress] = []
  private(set) var avoidsHTTP2 = false
  /// What the HTTP cache knows of the hop.
  var reuse = FetchCacheState()

  // Of the latest exchange.
  private var verdict: ResponseVerdict?
  private var status = 0
  /// Why it was broken off on this side.
  private(set) var failure: FetchFailure?

  // Of the body, which several exchanges may bring.
  /// The number of the body. Bytes and detector's answers of an earlier number are dropped.
  private(set) var body = 0
  /// In bytes.
  private(set) var received = 0
  /// The whole body's length, when the origin says it.
  private var length: Int?
  private var entityTag: String?
  private(set) var type: MediaType?

  init(_ url: CheckedURL, _ rules: Rules) {
    (self.url, self.rules) = (url, rules)
  }

  // MARK: What is asked of it

  var isOver: Bool { phase == .over }
  var isRedirected: Bool { visited.count > 1 }
  /// Whether a complete head has come in the latest exchange.
  var hasHead: Bool { verdict != nil }

  /// How many bytes are still to come, these included; where the length is unknown, these alone. A
  /// part in chunks may bring more than its length says.
  func expected(with count: Int) -> Int {
    length.map { max(0, $0 - received) } ?? count
  }

  /// The addresses, with another one first at each try: libcurl 7.88 spends the whole time for
  /// connecting on the first of a family where that swallows packets.
  var addressesInTurn: [IPAddress] {
    let turn = (tries - 1) % max(1, addresses.count)
    return Array(addresses[turn...] + addresses[..<turn])
  }

  /// Where the body may be taken up again: with a strong validator, and an origin that does not
  /// decline ranges (RFC 9110, 13.1.5).
  var resumption: (offset: Int, validator: String)? {
    guard received > 0, let entityTag, entityTag.hasPrefix("\"") else { return nil }
    return (received, entityTag)
  }

  /// What asks for the file only if it has changed; never of a part.
  var conditions: [String] { resumption == nil ? reuse.conditions : [] }

  /// Which gates the URL has passed: all where no name is looked up, or no address judged.
  var clearance: HTTPCache.Clearance {
    if url.address != nil || rules.proxy != nil { return .full }
    return url.portIsAllowed ? .ofPublic : .withheld
  }

  /// Whether every address that was asked is open to everybody.
  var isPublic: Bool {
    url.address == nil && rules.proxy == nil && addresses.allSatisfy(AddressGate.isPublic)
  }

  // MARK: What happens

  /// Takes what has happened.
  ///
  /// - Returns: what is to be done.
  mutating func handle(_ event: Event) -> Action {
    switch (phase, event) {
    case (.over, _): .none
    case (_, .failed(let failure)): end(.fail(failure))
    case (.pausing, .begun): begin()
    case (.lookingUp, .lookedUp(let answer)): handle(answer)
    case (.approaching, .admitted(true)): resolve()
    case (.starting, .admitted(true)): transfer()
    case (.approaching, .admitted(false)), (.starting, .admitted(false)): end(.fail(earlier ?? FetchFailure(breakerFor: url.origin)))
    case (.resolving, .resolved(let result)): handle(result)
    case (.confirming, .confirmed(let isThere)): confirm(isThere)
    case (.revalidating, .confirmed(let isThere)): revalidate(isThere)
    case (.waiting, .placeGranted): go(to: .starting, .askBreaker)
    case (.transferring, .head(let head, let moment)): judge(head, at: moment)
    case (.transferring, .body(let count)): take(count)
    case (_, .recognised(let type)): recognise(type)
    case (.transferring, .refused(let failure)): refuse(failure)
    case (.transferring, .ended(let exchange)): judge(exchange)
    case (.storing, .stored(let file)): end(.handOut(file))
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
      (tries, earlier) = (0, nil)
      if rules.hasIndex { return go(to: .lookingUp, .lookUp) }
    }
    return approach()
  }

  private mutating func handle(_ answer: HTTPCache.LookupResult) -> Action {
    reuse.handle(answer)
    if case .fresh(let entry) = answer { return serve(entry) }
    return approach()
  }

  /// A fresh answer needs no request, so that the circuit breaker is not asked.
  private mutating func approach() -> Action {
    phase = .approaching
    return reuse.isFresh ? resolve() : .askBreaker
  }

  private mutating func resolve() -> Action {
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

  /// Every address must pass: one bad one in an answer refuses the host. Behind a proxy they are
  /// the proxy's, which no gate judges.
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
    return end(.serve(entry, as: .hit))
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
    if rules.proxy != nil, head.status == 407 { return refuse(FetchFailure(proxyStatus: 407)) }
    guard case .body(let length, let resumes) = verdict else {
      // An unwanted body is not waited for: without one, the connection serves again.
      return verdict == .unchanged || head.contentLengths == ["0"] && head.transferEncodings.isEmpty ? .proceed : .stop
    }
    if !resumes { startOver() }
    if resumes, let known = self.length, known != length { return refuse(FetchFailure(reason: .httpFraming)) }
    self.length = length
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

  /// Whether the body is within its limit, as far as its length and its kind are known.
  private mutating func checkLength() -> Action {
    let size = max(length ?? 0, received)
    guard size > type.map({ rules.limits[$0.kind] }) ?? rules.limits.largest else { return failure == nil ? .proceed : .stop }
    return refuse(
      type.map { FetchFailure(tooLarge: $0.kind, limits: rules.limits) }
        ?? FetchFailure(
          reason: .sizeLimit, message: "the file is larger than \(rules.limits.largest) bytes; shrink it or raise --limits"))
  }

  private mutating func judge(_ exchange: TransferEnd) -> Action {
    avoidsHTTP2 = avoidsHTTP2 || exchange.isDoubtful
    if let failure { return end(.fail(failure)) }
    if let refusal = exchange.refusal { return end(.fail(FetchFailure(isRedirected ? refusal.onRedirect : refusal))) }
    switch verdict {
    case .redirect(let location): return follow(location)
    case .refuse(let reason): return end(.fail(FetchFailure(reason, status: status)))
    case .retry(let reason): return tryAgain(after: FetchFailure(reason, status: status, tries: tries), asked: exchange.retryAfter)
    case .unchanged where exchange.failure == nil: return takeUnchanged()
    case .body where exchange.failure == nil && (length ?? received) == received: return go(to: .storing, .finish)
    case .unchanged, .body, nil: return takeBroken(exchange)
    }
  }

  private mutating func takeBroken(_ exchange: TransferEnd) -> Action {
    let reason = exchange.failure ?? .httpTruncated
    let failure = FetchFailure(reason, of: exchange)
    // What a peer itself declined in the handshake, or a proxy with its status, it would decline
    // again.
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
    guard !visited.contains(url.text) else {
      return end(.fail(FetchFailure(reason: .httpRedirect, message: "the redirects go round in a circle")))
    }
    startOver()
    return begin()
  }

  private mutating func tryAgain(after failure: FetchFailure, asked: Duration?) -> Action {
    earlier = failure
    if resumption == nil { startOver() }
    return go(to: .pausing, .pause(after: failure, asked: asked))
  }

  /// The origin says that a file is still its answer.
  private mutating func takeUnchanged() -> Action {
    guard let entry = reuse.entry, !reuse.speaksOfAnother else { return askAnew() }
    return go(to: .revalidating, .confirm(entry.file))
  }

  private mutating func revalidate(_ isThere: Bool) -> Action {
    guard isThere, let entry = reuse.entry else { return askAnew() }
    return end(.serve(entry, as: .revalidated))
  }

  /// Asks again without a condition.
  private mutating func askAnew() -> Action {
    reuse.dropEntry()
    return approach()
  }

  /// What has come of the body counts no more.
  private mutating func startOver() {
    body += 1
    (received, length, entityTag, type) = (0, nil, nil, nil)
  }
}
