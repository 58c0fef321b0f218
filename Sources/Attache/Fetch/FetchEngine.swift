internal import Synchronization

/// One loop, and what its fetches share: the transport, the resolver, the places at each origin,
/// and who fetches what.
///
/// `@unchecked Sendable`: `loop` and `memory` are safe from any thread, all else is touched on the
/// loop only.
final class FetchEngine: FetchService, @unchecked Sendable {
  let loop: EventLoop
  /// What this run has fetched.
  let memory: FetchMemory
  var configuration: MediaFetcher.Configuration { memory.configuration }
  /// What is the same for all fetches.
  let rulesOfFetches: FetchState.Rules
  let retryPolicy: RetryPolicy
  /// What everything goes through; nil is the straight way.
  var proxy: Proxy? { configuration.policy.proxy }
  let transport: any Transport
  let resolver: any Resolver
  private let rules: SignatureRules?
  private var limiter: OriginLimiter<Fetch>
  private let budget: ConnectionBudget
  /// Which origins are left alone.
  var breaker = CircuitBreaker()
  /// The HTTP cache; nil where none is wanted.
  let cache: HTTPCache?
  let detectors: DetectorQueue
  /// The fetches that others may join, by URL.
  private var joinable: [String: Fetch] = [:]
  private var fetches: [ObjectIdentifier: Fetch] = [:]
  /// Whether nobody is to be answered any more.
  private let isShutDown = Atomic<Bool>(false)

  /// - Parameters:
  ///   - number: which of the fetcher's engines it is, from 0.
  ///   - engines: how many the fetcher has.
  ///   - isAlone: whether the others run in processes of their own.
  ///   - rules: used by this engine alone.
  init(
    _ memory: FetchMemory, files: FetchFiles, number: Int, of engines: Int, isAlone: Bool = false,
    rules: SignatureRules? = SignatureRules(),
    clock: (any DeadlineClock)? = nil, network: FetchNetwork
  ) throws(StartError) {
    do {
      loop = try EventLoop(machine: network.machine, clock: clock as? any MachineClock)
    } catch {
      throw StartError("\(error)")
    }
    (self.memory, self.rules) = (memory, rules)
    let configuration = memory.configuration
    let hasIndex = configuration.cache == .http
    rulesOfFetches = FetchState.Rules(
      gate: memory.gate, proxy: configuration.policy.proxy, limits: configuration.limits, hasIndex: hasIndex)
    cache = hasIndex ? HTTPCache(loop: loop, store: memory.store, limits: configuration.limits, roots: files.roots) : nil
    detectors = DetectorQueue(TypeDetector(playing: network.detectorPlay, asksAlways: true, database: files.database), on: loop)
    retryPolicy = RetryPolicy(retries: configuration.retries)
    budget = .current(engines: isAlone ? 1 : engines)
    limiter = OriginLimiter(placesInAll: budget.transfers) {
      FetchRoutes.share(of: number, in: $0, engines: engines, transfersPerOrigin: configuration.transfersPerOrigin)
    }
    transport = try network.transport(loop)
    resolver = try network.resolver(loop)
    loop.atTurnEnd { [weak self] in self?.turnEnded() }
  }

  func fetch(_ url: CheckedURL, for waiter: FetchWaiter) {
    loop.post { [self] in begin(url, for: waiter) }
  }

  func leave(_ waiter: FetchWaiter, done: @escaping @Sendable () -> Void) {
    loop.post { [self] in
      leave(waiter)
      done()
    }
  }

  func countOrigins(_ answer: @escaping @Sendable (BreakerStates) -> Void) {
    loop.post { [self] in answer(breaker.states(at: loop.now)) }
  }

  /// Writes what the HTTP cache's index has still to write, and closes it.
  func closeCache(_ done: @escaping @Sendable (_ warning: String?) -> Void) {
    loop.post { [self] in done(cache?.close()) }
  }

  /// Ends everything; what ends in the present turn gets no answer either. Safe from any thread.
  func shutdown() {
    isShutDown.store(true, ordering: .relaxed)
    loop.post { [self] in
      for fetch in fetches.values { fetch.abandon() }
      fetches.removeAll()
      joinable.removeAll()
      detectors.shutdown()
      resolver.shutdown()
      transport.shutdown()
    }
    loop.stop()
  }

  /// How many fetches are under way.
  var fetchCount: Int { fetches.count }

  // MARK: Who fetches what

  /// Answers from the cache, joins a fetch of the same URL, or begins one.
  func begin(_ url: CheckedURL, for waiter: FetchWaiter) {
    // A waiter that was cancelled before its turn is out already.
    guard waiter.isOpen else { return }
    guard configuration.cache != .off else { return start(url, for: waiter) }
    if let running = joinable[url.text] {
      return join(running, url, waiter)
    }
    guard let (file, isFresh) = memory.file(for: url.text) else { return start(url, for: waiter) }
    if isFresh {
      memory.answer(waiter, with: file)
    } else if !memory.answerAfterLook(url, for: waiter, with: file) {
      start(url, for: waiter)
    }
  }

  /// Takes a waiter that has gone away out of its fetch, which nobody joins meanwhile if he was the
  /// last.
  func leave(_ waiter: FetchWaiter) {
    guard let fetch = waiter.fetch else { return }
    fetch.tracker.noteAbsence()
    loop.addChore { fetch.remove(waiter) }
  }

  private func start(_ url: CheckedURL, for waiter: FetchWaiter) {
    let fetch = Fetch(url, engine: self)
    fetches[ObjectIdentifier(fetch)] = fetch
    if configuration.cache != .off { joinable[url.text] = fetch }
    _ = fetch.add(waiter)
    fetch.begin()
  }

  private func join(_ fetch: Fetch, _ url: CheckedURL, _ waiter: FetchWaiter) {
    switch fetch.add(waiter) {
    case .waits: waiter.note { $0.cache = .joined }
    case .late: start(url, for: waiter)
    }
  }

  /// Tells everyone who waits that a fetch has failed, and forgets it.
  func conclude(_ fetch: Fetch, _ failure: FetchFailure) {
    forget(fetch)
    for waiter in fetch.tracker.end() { waiter.complete(.failure(failure)) }
  }

  /// Remembers what a fetch has brought, and forgets the fetch.
  func keep(_ file: StoredFile, of fetch: Fetch) {
    forget(fetch)
    switch configuration.cache {
    case .off: break
    case .session: memory.keep(file, for: fetch.key)
    case .http:
      guard let cache, let end = fetch.state.reuse.trustedUntil, end > cache.now else { return }
      memory.keep(file, for: fetch.key, until: loop.now.advanced(by: end - cache.now))
    }
  }

  private func forget(_ fetch: Fetch) {
    fetches[ObjectIdentifier(fetch)] = nil
    if joinable[fetch.key] === fetch { joinable[fetch.key] = nil }
  }

  /// Gives each waiter a pin of its own: the first the one that the file came with.
  func handOut(_ file: StoredFile, to waiters: [FetchWaiter]) {
    memory.handOut(file, to: waiters)
  }

  /// Takes back a pin that nobody was given.
  func release(of file: StoredFile) {
    memory.store.unpin(file)
  }

  // MARK: What fetches ask for

  func makeIngest() -> MediaIngest {
    MediaIngest(store: memory.store, rules: rules, limits: configuration.limits)
  }

  /// Gives a fetch a place at its origin.
  ///
  /// - Returns: nil when it may start; else what it waits for.
  func enter(_ fetch: Fetch) -> FetchProgress.Awaited? {
    switch limiter.enter(fetch.url.origin, fetch) {
    case .starts: nil
    case .waitsForOrigin: .origin(places: configuration.transfersPerOrigin, isRedirected: fetch.state.isRedirected)
    case .waitsForAny: .any(places: budget.transfers)
    }
  }

  /// Has a fetch whose transfer brings nothing count no more among those of its origin.
  ///
  /// - Returns: false when too many do not already.
  func setAside(_ fetch: Fetch) -> Bool {
    let (isAside, next) = limiter.setAside(fetch.url.origin)
    next?.placeGranted()
    return isAside
  }

  /// Gives back a fetch's place at an origin, to the next in the queue if there is one.
  ///
  /// - Parameter isAside: whether it was set aside.
  func leave(origin: String, isAside: Bool) {
    guard let next = limiter.leave(origin, isAside: isAside) else { return }
    // Not from within the call that gave the place back: it may be on the transport's stack.
    loop.later { next.placeGranted() }
  }

  func giveUpPlace(_ fetch: Fetch) {
    limiter.giveUp(fetch.url.origin, fetch)
  }

  private func turnEnded() {
    guard !isShutDown.load(ordering: .relaxed) else { return }
    transport.deliverEnds()
    detectors.turnEnded()
    cache?.turnEnded()
  }
}
