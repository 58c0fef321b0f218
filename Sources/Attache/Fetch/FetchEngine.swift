internal import Synchronization

/// The loop of a fetcher and what its fetches share: the transport, the resolver, the places at each
/// origin, and the table of running fetches.
///
/// `@unchecked Sendable`: `loop` and `store` may be used from any thread, everything else on the
/// loop only.
final class FetchEngine: @unchecked Sendable {
  let loop: EventLoop
  let configuration: FetchConfiguration
  let store: AttachmentStore
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
  private(set) var fetches: [ObjectIdentifier: Fetch] = [:]
  /// Whether completions must not be called any more.
  private let isShutDown = Atomic<Bool>(false)

  /// - Parameters:
  ///   - number: the index of this engine in the fetcher, from 0.
  ///   - engines: the number of engines of the fetcher.
  ///   - isAlone: whether the other engines run in processes of their own.
  init(
    _ configuration: FetchConfiguration, store: AttachmentStore, files: FetchFiles, number: Int, of engines: Int,
    isAlone: Bool = false, clock: MonotonicClock? = nil, network: FetchNetwork
  ) throws(StartError) {
    do {
      loop = try EventLoop(machine: network.machine, isOverdue: { clock?.isOverdue == true })
    } catch {
      throw StartError("\(error)")
    }
    (self.configuration, self.store) = (configuration, store)
    let hasIndex = configuration.cache == .http
    let conversion = configuration.steps.conversion
    rulesOfFetches = FetchState.Rules(
      gate: URLGate(configuration.policy), proxy: configuration.policy.proxy, limits: DownloadLimits(configuration.limits, conversion),
      hasIndex: hasIndex)
    cache =
      hasIndex
      ? HTTPCache(
        loop: loop, store: store, limits: configuration.limits, roots: files.roots,
        steps: configuration.steps.identity(configuration.limits), userAgent: configuration.userAgent) : nil
    detectors = DetectorQueue(TypeDetector(asksAlways: true, database: files.database), on: loop)
    converters = conversion.map { [loop, cache] in
      ConverterQueue($0, configuration.limits, store: store, cache: cache, on: loop, startProcess: network.startConverter)
    }
    retryPolicy = RetryPolicy(retries: configuration.retries)
    budget = .current(engines: isAlone ? 1 : engines)
    let shares = OriginShares(engines: engines, transfers: configuration.transfersPerOrigin)
    limiter = OriginLimiter(placesInAll: budget.transfers) { shares.share(of: number, in: $0) }
    transport = try network.transport(loop)
    resolver = try network.resolver(loop)
    loop.atTurnEnd { [weak self] in self?.turnEnded() }
  }

  /// Ends everything. Transfers that end in the current turn call no completion either. May be
  /// called from any thread.
  func shutdown() {
    isShutDown.store(true, ordering: .relaxed)
    loop.post { [self] in
      for fetch in fetches.values { fetch.abandon() }
      fetches.removeAll()
      _ = cache?.close()
      detectors.shutdown()
      converters?.shutdown()
      // None may remain as a zombie of a program that goes on.
      HelperProcess.collect(within: 100)
      resolver.shutdown()
      transport.shutdown()
    }
    loop.stop()
  }

  // MARK: Fetches

  /// Begins a fetch.
  ///
  /// - Parameters:
  ///   - fields: the operator's header lines for the origin of the URL.
  ///   - refusal: why the circuit breaker refuses the request. Then only a fresh file of the cache may
  ///     be handed out; without one, this is the result. nil when the request may be sent.
  func begin(_ url: CheckedURL, fields: [String], for waiter: FetchWaiter, refusal: FetchFailure?) {
    let fetch = Fetch(url, fields: fields, engine: self, refusal: refusal)
    fetches[ObjectIdentifier(fetch)] = fetch
    fetch.begin(for: waiter)
  }

  /// Ends the fetch of a cancelled waiter.
  func leave(_ waiter: FetchWaiter) {
    guard let fetch = waiter.fetch else { return }
    fetch.tracker.markCancelled()
    loop.postLowPriority { fetch.leave() }
  }

  /// Reports a failure to the waiter of a fetch, and removes the fetch.
  func conclude(_ fetch: Fetch, _ failure: FetchFailure) {
    forget(fetch)
    fetch.tracker.end()?.complete(.failure(failure))
  }

  /// Decides how long the host may reuse the file of a fetch, and removes the fetch.
  func keep(_ file: StoredFile, of fetch: Fetch) {
    forget(fetch)
    switch configuration.cache {
    case .off: break
    case .session: fetch.keptUntil = .distantFuture
    case .http:
      guard let cache, let end = fetch.state.reuse.trustedUntil, end > cache.now else { return }
      fetch.keptUntil = loop.now.advanced(by: end - cache.now)
    }
  }

  private func forget(_ fetch: Fetch) {
    fetches[ObjectIdentifier(fetch)] = nil
  }

  /// Hands a pinned file to the waiter of a fetch.
  func handOut(_ file: StoredFile, to waiter: FetchWaiter?) {
    if waiter?.complete(.success(file)) != true { release(of: file) }
  }

  /// Releases a pin that was not handed out.
  func release(of file: StoredFile) {
    store.unpin(file)
  }

  // MARK: What fetches ask for

  func makeIngest() -> MediaIngest {
    MediaIngest(store: store, limits: configuration.limits, conversion: configuration.steps.conversion)
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
