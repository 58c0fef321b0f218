internal import Synchronization

/// One loop and what its fetches share: the transport, the resolver, the places at each origin, and
/// the table of running fetches.
///
/// `@unchecked Sendable`: `loop` and `memory` may be used from any thread, everything else on the
/// loop only.
final class FetchEngine: FetchService, @unchecked Sendable {
  let loop: EventLoop
  /// The files that this run has fetched.
  let memory: FetchMemory
  var configuration: MediaFetcher.Configuration { memory.configuration }
  /// The rules that all fetches share.
  let rulesOfFetches: FetchState.Rules
  let retryPolicy: RetryPolicy
  /// The proxy of all transfers; nil for direct connections.
  var proxy: Proxy? { configuration.policy.proxy }
  let transport: any Transport
  let resolver: any Resolver
  private var limiter: OriginLimiter<Fetch>
  private let budget: ConnectionBudget
  /// The HTTP cache; nil when it is disabled.
  let cache: HTTPCache?
  let detectors: DetectorQueue
  /// nil if nothing is converted.
  let converters: ConverterQueue?
  /// The fetches that other requests may join, by URL.
  private var joinable: [String: Fetch] = [:]
  private(set) var fetches: [ObjectIdentifier: Fetch] = [:]
  /// Whether completions must not be called any more.
  private let isShutDown = Atomic<Bool>(false)

  /// - Parameters:
  ///   - number: the index of this engine in the fetcher, from 0.
  ///   - engines: the number of engines of the fetcher.
  ///   - isAlone: whether the other engines run in processes of their own.
  init(
    _ memory: FetchMemory, files: FetchFiles, number: Int, of engines: Int, isAlone: Bool = false,
    clock: MonotonicClock? = nil, network: FetchNetwork
  ) throws(StartError) {
    do {
      loop = try EventLoop(machine: network.machine, isOverdue: { clock?.isOverdue == true })
    } catch {
      throw StartError("\(error)")
    }
    self.memory = memory
    let configuration = memory.configuration
    let hasIndex = configuration.cache == .http
    let conversion = configuration.steps.conversion
    rulesOfFetches = FetchState.Rules(
      gate: memory.gate, proxy: configuration.policy.proxy, limits: DownloadLimits(configuration.limits, conversion), hasIndex: hasIndex)
    cache =
      hasIndex
      ? HTTPCache(
        loop: loop, store: memory.store, limits: configuration.limits, roots: files.roots,
        steps: configuration.steps.identity(configuration.limits), userAgent: configuration.userAgent) : nil
    detectors = DetectorQueue(TypeDetector(asksAlways: true, database: files.database), on: loop)
    converters = conversion.map { [loop, cache] in
      ConverterQueue($0, configuration.limits, store: memory.store, cache: cache, on: loop, startProcess: network.startConverter)
    }
    retryPolicy = RetryPolicy(retries: configuration.retries)
    budget = .current(engines: isAlone ? 1 : engines)
    limiter = OriginLimiter(placesInAll: budget.transfers) {
      FetchRoutes.share(of: number, in: $0, engines: engines, transfersPerOrigin: configuration.transfersPerOrigin)
    }
    transport = try network.transport(loop)
    resolver = try network.resolver(loop)
    loop.atTurnEnd { [weak self] in self?.turnEnded() }
    if let conversions = memory.conversions { converters?.loadChanged = { conversions.note(load: $0, of: number) } }
  }

  func fetch(_ url: CheckedURL, fields: [String], for waiter: FetchWaiter, refusal: FetchFailure?) {
    loop.post { [self] in begin(url, fields: fields, for: waiter, refusal: refusal) }
  }

  func leave(_ waiter: FetchWaiter, done: @escaping @Sendable () -> Void) {
    loop.post { [self] in
      leave(waiter)
      done()
    }
  }

  func pulse(_ answer: @escaping @Sendable () -> Void) {
    loop.post(answer)
  }

  /// Writes the pending rows of the HTTP cache's index, and closes it.
  func closeCache(_ done: @escaping @Sendable (_ warning: String?) -> Void) {
    loop.post { [self] in done(cache?.close()) }
  }

  /// Ends everything. Transfers that end in the current turn call no completion either. May be
  /// called from any thread.
  func shutdown() {
    isShutDown.store(true, ordering: .relaxed)
    loop.post { [self] in
      for fetch in fetches.values { fetch.abandon() }
      fetches.removeAll()
      joinable.removeAll()
      detectors.shutdown()
      converters?.shutdown()
      // None may remain as a zombie of a program that goes on.
      HelperProcess.collect(within: 100)
      resolver.shutdown()
      transport.shutdown()
    }
    loop.stop()
  }

  // MARK: Who fetches what

  /// Answers from the cache, joins a fetch of the same URL, or begins a new one. A request that the
  /// circuit breaker refuses neither joins one that it lets through, nor is joined by one.
  func begin(_ url: CheckedURL, fields: [String] = [], for waiter: FetchWaiter, refusal: FetchFailure? = nil) {
    // A waiter that was cancelled before this call needs no fetch.
    guard waiter.isOpen else { return }
    guard configuration.cache != .off else { return start(url, fields, for: waiter, refusal) }
    if refusal == nil, let running = joinable[url.text] {
      return join(running, url, fields, waiter)
    }
    guard let (file, isFresh) = memory.file(for: url.text) else { return start(url, fields, for: waiter, refusal) }
    if isFresh {
      memory.answer(waiter, with: file)
    } else if !memory.answerAfterLook(url, for: waiter, with: file) {
      start(url, fields, for: waiter, refusal)
    }
  }

  /// Removes a cancelled waiter from its fetch. If it was the last one, no other request can join
  /// the fetch from now on.
  func leave(_ waiter: FetchWaiter) {
    guard let fetch = waiter.fetch else { return }
    fetch.tracker.markCancelled()
    loop.postLowPriority { fetch.remove(waiter) }
  }

  private func start(_ url: CheckedURL, _ fields: [String], for waiter: FetchWaiter, _ refusal: FetchFailure?) {
    let fetch = Fetch(url, fields: fields, engine: self, refusal: refusal)
    fetches[ObjectIdentifier(fetch)] = fetch
    if configuration.cache != .off, refusal == nil { joinable[url.text] = fetch }
    _ = fetch.add(waiter)
    fetch.begin()
  }

  private func join(_ fetch: Fetch, _ url: CheckedURL, _ fields: [String], _ waiter: FetchWaiter) {
    switch fetch.add(waiter) {
    case .waits: waiter.note { $0.cache = .joined }
    case .late: start(url, fields, for: waiter, nil)
    }
  }

  /// Reports a failure to all waiters of a fetch, and removes the fetch.
  func conclude(_ fetch: Fetch, _ failure: FetchFailure) {
    forget(fetch)
    for waiter in fetch.tracker.end() { waiter.complete(.failure(failure)) }
  }

  /// Remembers the file of a fetch, and removes the fetch.
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

  /// Hands the file to the waiters, each with its own pin. The first one gets the existing pin.
  func handOut(_ file: StoredFile, to waiters: [FetchWaiter]) {
    memory.handOut(file, to: waiters)
  }

  /// Releases a pin that was not handed out.
  func release(of file: StoredFile) {
    memory.store.unpin(file)
  }

  // MARK: What fetches ask for

  func makeIngest() -> MediaIngest {
    MediaIngest(store: memory.store, limits: configuration.limits, conversion: configuration.steps.conversion)
  }

  /// Requests a place at the origin for a fetch.
  ///
  /// - Returns: nil when the fetch may start, otherwise what it waits for.
  func enter(_ fetch: Fetch) -> FetchProgress.Awaited? {
    switch limiter.enter(fetch.url.origin, fetch) {
    case .starts: nil
    case .waitsForOrigin: .origin(places: configuration.transfersPerOrigin, isRedirected: fetch.state.isRedirected)
    case .waitsForAny: .any(places: budget.transfers)
    }
  }

  /// Sets aside a fetch whose transfer receives nothing: it no longer counts for its origin.
  ///
  /// - Returns: false when too many are set aside already.
  func setAside(_ fetch: Fetch) -> Bool {
    let (isAside, next) = limiter.setAside(fetch.url.origin)
    next?.placeGranted()
    return isAside
  }

  /// Gives back a fetch's place at an origin. The next fetch in the queue gets it.
  ///
  /// - Parameter isAside: whether the fetch was set aside.
  func leave(origin: String, isAside: Bool) {
    guard let next = limiter.leave(origin, isAside: isAside) else { return }
    // The next fetch starts later, because this call may be on the transport's stack.
    loop.later { next.placeGranted() }
  }

  func giveUpPlace(_ fetch: Fetch) {
    limiter.giveUp(fetch.url.origin, fetch)
  }

  private func turnEnded() {
    guard !isShutDown.load(ordering: .relaxed) else { return }
    transport.deliverEnds()
    detectors.turnEnded()
    converters?.turnEnded()
    cache?.turnEnded()
  }
}
