internal import Synchronization

/// The files that this run has fetched, and the answers from them. May be used from any thread.
final class FetchMemory: Sendable {
  /// What all threads that fetch share.
  struct State {
    var session: SessionCache
    var routes: FetchRoutes
    /// The latest URL that passed the gate: a campaign repeats the same URL.
    var latest: (text: UntrustedText, checked: CheckedURL)?
  }

  let configuration: FetchConfiguration
  let gate: URLGate
  let store: AttachmentStore
  let machine: any Machine
  let state: Mutex<State>
  /// The circuit breaker of the origins that payloads name.
  private let breaker = Mutex((circuits: CircuitBreaker(), ledger: BreakerLedger()))
  /// Whether the breaker may refuse a request. The thread that asks for URLs reads it without a lock.
  private let hasFailures = Atomic<Bool>(false)
  private let engines: Int
  /// What the converters have to do; nil if nothing is converted.
  let conversions: ConversionLoad?

  /// - Parameters:
  ///   - trust: how long a file is assumed to be in the store without a check.
  ///   - engines: the number of engines to choose from.
  init(
    _ configuration: FetchConfiguration, store: AttachmentStore, trust: Duration = SessionCache.trust, engines: Int,
    machine: any Machine
  ) {
    (self.configuration, self.store, self.machine) = (configuration, store, machine)
    self.engines = engines
    gate = URLGate(configuration.policy)
    conversions = configuration.steps.conversion == nil ? nil : ConversionLoad(converters: engines)
    let routes = FetchRoutes(
      engines: engines, transfersPerOrigin: configuration.transfersPerOrigin, joins: configuration.cache != .off)
    state = Mutex(State(session: SessionCache(trust: trust), routes: routes))
  }

  // MARK: What is asked

  /// Checks a URL of a payload.
  func check(_ url: UntrustedText) throws(Refusal) -> CheckedURL {
    // The length is checked before two long texts are compared.
    guard url.utf8.count <= URLGate.maximumBytes else { throw URLGate.tooLong }
    let earlier = state.withLock { $0.latest }
    if let earlier, earlier.text == url { return earlier.checked }
    let checked = try gate.check(url.string, after: earlier?.checked)
    state.withLock { $0.latest = (url, checked) }
    return checked
  }

  /// Chooses the engine for a request, which belongs to it until ``leave(_:_:)``.
  func enter(_ url: CheckedURL) -> Int {
    engines > 1 ? state.withLock { $0.routes.enter(url) } : 0
  }

  /// Removes a request that has been answered or cancelled.
  func leave(_ url: CheckedURL, _ engine: Int) {
    if engines > 1 { state.withLock { $0.routes.leave(url, engine) } }
  }

  // MARK: The circuit breaker

  /// Returns why the circuit breaker refuses a request; nil when it may be sent.
  func refusal(of url: CheckedURL) -> FetchFailure? {
    guard hasFailures.load(ordering: .relaxed) else { return nil }
    let verdict = breaker.withLock { $0.circuits.admit(url.target, of: url.origin, at: machine.now, jitter: machine.randomFraction) }
    guard case .refuse(let refusal) = verdict else { return nil }
    return FetchFailure(refusal)
  }

  /// Whether a file may be found for a URL without a request to its origin.
  func mayHave(_ url: CheckedURL) -> Bool {
    configuration.cache == .http || file(for: url.text) != nil
  }

  /// Records what a request has shown about the origin that it names.
  ///
  /// - Returns: the message for the user if the origin's circuit has opened or closed.
  @discardableResult
  func note(_ health: OriginHealth, of url: CheckedURL) -> FetcherNotice? {
    let now = machine.now
    return breaker.withLock { breaker in
      let change = breaker.circuits.note(health, of: url.origin, target: url.target, at: now)
      hasFailures.store(breaker.circuits.hasFailures, ordering: .relaxed)
      guard let change, breaker.ledger.tells(change, of: url.origin, at: now) else { return nil }
      return FetcherNotice(change, of: url.origin)
    }
  }

  /// The number of remembered origins in each state of the circuit breaker.
  var breakerStates: BreakerStates { breaker.withLock { $0.circuits.states(at: machine.now) } }

  // MARK: What this run has fetched

  /// Returns the file of a URL, and whether it was seen in the store so recently that no check is
  /// needed.
  func file(for url: String) -> (file: StoredFile, isFresh: Bool)? {
    guard configuration.cache != .off else { return nil }
    return state.withLock { $0.session.file(for: url, at: machine.now) }
  }

  /// Remembers a file that has just been stored or found in the store.
  ///
  /// - Parameter end: when the file stops being valid for the URL; nil for never.
  func keep(_ file: StoredFile, for url: String, until end: MonotonicInstant? = nil) {
    state.withLock { $0.session.insert(file, for: url, at: machine.now, until: end) }
  }

  /// Answers with a remembered file if the store still has it, and forgets it otherwise.
  ///
  /// - Returns: false when the file is gone.
  func answerAfterLook(_ url: CheckedURL, for waiter: FetchWaiter, with file: StoredFile) -> Bool {
    // Pinning first ensures that a file that is found stays.
    store.pin(file)
    defer { store.unpin(file) }
    let isThere = store.touch(file)
    state.withLock { isThere ? $0.session.renew(url.text, at: machine.now) : $0.session.remove(url.text) }
    if isThere { answer(waiter, with: file) }
    return isThere
  }

  // MARK: Answers

  /// Answers from the cache if it has a file for the URL that was recently seen in the store.
  ///
  /// - Returns: false when the URL must be fetched.
  func answerAtOnce(_ url: CheckedURL, for waiter: FetchWaiter) -> Bool {
    guard let (file, isFresh) = file(for: url.text), isFresh else { return false }
    answer(waiter, with: file)
    return true
  }

  func answer(_ waiter: FetchWaiter, with file: StoredFile) {
    store.pin(file)
    waiter.note { record in
      record.cache = .hit
      record.type = file.type
      record.bytes = file.size
    }
    if !waiter.complete(.success(file)) { store.unpin(file) }
  }

  /// Hands the file to the waiters, each with its own pin. The first one gets the existing pin.
  func handOut(_ file: StoredFile, to waiters: [FetchWaiter]) {
    for _ in waiters.dropFirst() { store.pin(file) }
    if waiters.isEmpty { store.unpin(file) }
    for waiter in waiters where !waiter.complete(.success(file)) { store.unpin(file) }
  }
}

/// The files that this process has fetched, by URL. A file is not fetched again while the store has
/// it.
struct SessionCache {
  private struct Entry {
    var file: StoredFile
    var checked: MonotonicInstant
    /// nil means as long as the process lives.
    var end: MonotonicInstant?
  }

  /// The number of latest URLs that are certainly remembered, and half of the maximum; about 300
  /// bytes each.
  static let capacity = 4_096
  /// How long a file is assumed to be in the store without a check. This is far shorter than the
  /// time for which the store does not evict files that another process has used.
  static let trust = Duration.seconds(30)

  private let trust: Duration
  private let capacity: Int
  private var entries: [String: Entry] = [:]
  private var order: [String] = []

  init(trust: Duration = Self.trust, capacity: Int = Self.capacity) {
    self.trust = trust
    self.capacity = capacity
  }

  /// Remembers a file that has just been stored or found in the store.
  ///
  /// - Parameter end: when the file stops being valid for the URL; nil for never.
  mutating func insert(_ file: StoredFile, for url: String, at now: MonotonicInstant, until end: MonotonicInstant? = nil) {
    if entries.updateValue(Entry(file: file, checked: now, end: end), forKey: url) == nil { order.append(url) }
    guard order.count > 2 * capacity else { return }
    for old in order.prefix(capacity) { entries[old] = nil }
    order.removeFirst(capacity)
  }

  /// Records that a remembered file has just been found in the store.
  mutating func renew(_ url: String, at now: MonotonicInstant) {
    entries[url]?.checked = now
  }

  mutating func remove(_ url: String) {
    entries[url] = nil
  }

  /// Returns the file, and whether it was seen in the store so recently that no check is needed.
  func file(for url: String, at now: MonotonicInstant) -> (file: StoredFile, isFresh: Bool)? {
    guard let entry = entries[url], entry.end.map({ now < $0 }) ?? true else { return nil }
    return (entry.file, entry.checked.duration(to: now) < trust)
  }
}

/// Chooses the engine that fetches a URL. A URL in flight stays with its engine. Any other URL goes
/// to the engine with the lowest load from its origin, relative to the engine's share of the
/// origin's transfers.
///
/// Each engine has a share of at least one transfer, and the shares add up to the total. A pure
/// value.
struct FetchRoutes {
  struct Route {
    var engine: Int
    var waiters: Int
  }

  private let engines: Int
  private let shares: OriginShares
  private let joins: Bool
  /// By URL.
  private(set) var routes: [String: Route] = [:]
  /// The number of URLs of each engine, by origin.
  private(set) var origins: [String: [Int]] = [:]
  /// The number of URLs of each engine.
  private(set) var loads: [Int]

  /// - Parameter joins: whether requests for a URL in flight join it.
  init(engines: Int, transfersPerOrigin: Int, joins: Bool) {
    (self.engines, self.joins) = (engines, joins)
    shares = OriginShares(engines: engines, transfers: transfersPerOrigin)
    loads = Array(repeating: 0, count: engines)
  }

  /// Chooses the engine for a request, which belongs to it until ``leave(_:_:)``.
  mutating func enter(_ url: CheckedURL) -> Int {
    guard joins else { return enter(origin: url.origin) }
    if let index = routes.index(forKey: url.text) {
      routes.values[index].waiters += 1
      return routes.values[index].engine
    }
    let engine = enter(origin: url.origin)
    routes[url.text] = Route(engine: engine, waiters: 1)
    return engine
  }

  /// Removes a request that has been answered or cancelled.
  mutating func leave(_ url: CheckedURL, _ engine: Int) {
    if joins, let index = routes.index(forKey: url.text) {
      routes.values[index].waiters -= 1
      guard routes.values[index].waiters == 0 else { return }
      routes.remove(at: index)
    }
    loads[engine] -= 1
    guard let index = origins.index(forKey: url.origin) else { return }
    origins.values[index][engine] -= 1
    if origins.values[index].allSatisfy({ $0 == 0 }) { origins.remove(at: index) }
  }

  private mutating func enter(origin: String) -> Int {
    let index = origins.index(forKey: origin)
    let engine = choice(for: origin, index.map { origins.values[$0] })
    loads[engine] += 1
    if let index {
      origins.values[index][engine] += 1
    } else {
      origins[origin] = loads.indices.map { $0 == engine ? 1 : 0 }
    }
    return engine
  }

  /// - Parameter own: the number of the origin's URLs of each engine; nil if it has none.
  private func choice(for origin: String, _ own: [Int]?) -> Int {
    let first = shares.first(of: origin)
    // The share is limited because it is multiplied: a program that uses the library may pass any
    // number.
    func share(_ place: Int) -> Int {
      min(1 << 20, shares.share(ofPlace: place))
    }
    var (best, placeOfBest) = (first, 0)
    for place in 1..<engines {
      let engine = (first + place) % engines
      // This compares the load per place of both engines, without fractions.
      let (other, present) = (((own?[engine] ?? 0) + 1) * share(placeOfBest), ((own?[best] ?? 0) + 1) * share(place))
      if (other, loads[engine]) < (present, loads[best]) { (best, placeOfBest) = (engine, place) }
    }
    return best
  }
}
