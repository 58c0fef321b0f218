internal import Synchronization

/// What all fetches share: the loop, the transport, the resolver, the places at each origin, the media threads, and who fetches what.
///
/// `@unchecked Sendable`: `loop` and `workers` are safe from any thread, all else is touched on the loop only.
final class FetchEngine: @unchecked Sendable {
  let loop: EventLoop
  let configuration: MediaFetcher.Configuration
  let gate: URLGate
  let addressGate: AddressGate
  let retryPolicy: RetryPolicy
  /// What everything goes through; nil is the straight way.
  var proxy: Proxy? { configuration.policy.proxy }
  let transport: any Transport
  let resolver: any Resolver
  private let store: AttachmentStore
  let workers: [MediaWorker]
  private var nextWorker = 0
  private var admission: Admission<Fetch>
  private let budget: ConnectionBudget
  /// Which origins are left alone.
  var breaker = CircuitBreaker()
  private let cache: Mutex<SessionCache>
  /// The HTTP cache; nil where none is wanted.
  let desk: CacheDesk?
  /// The fetches that others may join, by URL.
  private var joinable: [String: Fetch] = [:]
  private var fetches: [ObjectIdentifier: Fetch] = [:]
  private var gathering: [Fetch] = []
  private var gatheringEnds: TimerEntry?
  /// How long a file may come before its type is asked for: a small one that comes from near is there whole by then.
  private static let gatheringTime = Duration.milliseconds(10)

  init(
    _ configuration: MediaFetcher.Configuration, gate: URLGate, store: AttachmentStore, trust: Duration, clock: (any DeadlineClock)?,
    network: FetchNetwork
  ) throws(StartError) {
    let roots = try RootCertificates.check(configuration.rootCertificates)
    do {
      loop = try EventLoop(machine: network.machine, clock: clock as? any MachineClock)
      workers = try (0..<MediaWorker.recommendedCount(on: network.machine)).map { (_) throws(StartError) in
        try MediaWorker(store: store, machine: network.machine, playing: network.detectorPlay)
      }
    } catch {
      throw StartError("\(error)")
    }
    self.configuration = configuration
    self.gate = gate
    self.store = store
    addressGate = gate.addressGate
    cache = Mutex(
      SessionCache(trust: trust, capacity: configuration.cache == .http ? SessionCache.capacityBeforeIndex : SessionCache.capacity))
    desk =
      configuration.cache == .http
      ? CacheDesk(loop: loop, worker: workers[0], store: store, limits: configuration.limits, roots: roots) : nil
    retryPolicy = RetryPolicy(retries: configuration.retries)
    budget = .current(engines: configuration.engines)
    admission = Admission(places: configuration.transfersPerOrigin, placesInAll: budget.transfers)
    transport = try network.transport(loop)
    resolver = try network.resolver(loop)
    loop.post { [self] in loop.atTurnEnd { [weak self] in self?.turnEnded() } }
  }

  /// Writes what the HTTP cache has still to write, and waits for that, for as long as a disk that works could take. Safe from any thread but the
  /// engine's own.
  ///
  /// - Returns: what the user should know of the cache.
  func closeCache() -> String? {
    guard let desk, let bell = try? loop.machine.makeBell() else { return nil }
    let end = loop.now.advanced(by: CacheDesk.closingPatience)
    let outcome = Mutex<(isOver: Bool, warning: String?)>((false, nil))
    loop.post {
      desk.close { warning in
        outcome.withLock { $0 = (true, warning) }
        bell.ring()
      }
    }
    while !outcome.withLock({ $0.isOver }), loop.now < end { bell.wait(until: end) }
    return outcome.withLock { $0.warning }
  }

  /// Ends everything without an answer. Safe from any thread.
  func shutdown() {
    loop.post { [self] in
      for fetch in fetches.values { fetch.abandon() }
      fetches.removeAll()
      joinable.removeAll()
      resolver.shutdown()
      transport.shutdown()
    }
    loop.stop()
    for worker in workers { worker.stop() }
  }

  /// How many fetches are under way.
  var fetchCount: Int { fetches.count }

  // MARK: Who fetches what

  /// Answers from the cache, joins a fetch of the same URL, or begins one.
  func begin(_ url: CheckedURL, for waiter: FetchWaiter) {
    // Who has gone away before his turn has been taken out already.
    guard waiter.isOpen else { return }
    guard configuration.cache != .off else { return start(url, for: waiter) }
    if let running = joinable[url.text] {
      return join(running, url, waiter)
    }
    guard let (file, isFresh) = cache.withLock({ $0.file(for: url.text, at: loop.now) }) else { return start(url, for: waiter) }
    guard isFresh else { return revisit(file, url, for: waiter) }
    answer(waiter, with: file)
  }

  /// Answers from the cache, when that knows the file and has seen it in the store of late. Safe from any thread.
  ///
  /// - Returns: false when the loop is to be asked.
  func answerAtOnce(_ url: CheckedURL, for waiter: FetchWaiter) -> Bool {
    guard configuration.cache != .off, let (file, isFresh) = cache.withLock({ $0.file(for: url.text, at: loop.now) }), isFresh else {
      return false
    }
    answer(waiter, with: file)
    return true
  }

  /// Takes a waiter that has gone away out of its fetch, which nobody joins meanwhile if he was the last.
  func leave(_ waiter: FetchWaiter) {
    guard let fetch = waiter.fetch else { return }
    fetch.course.noteAbsence()
    loop.addChore { fetch.remove(waiter) }
  }

  private func start(_ url: CheckedURL, for waiter: FetchWaiter) {
    let fetch = Fetch(url, engine: self, worker: pickWorker())
    fetches[ObjectIdentifier(fetch)] = fetch
    if configuration.cache != .off { joinable[url.text] = fetch }
    _ = fetch.add(waiter)
    fetch.begin()
  }

  private func join(_ fetch: Fetch, _ url: CheckedURL, _ waiter: FetchWaiter) {
    switch fetch.add(waiter) {
    case .waits: waiter.note { $0.cache = .joined }
    case .late(let file?): answer(waiter, with: file)
    case .late(nil): start(url, for: waiter)
    }
  }

  /// Looks for a cached file in the store, off the loop; what is gone is fetched again.
  private func revisit(_ file: StoredFile, _ url: CheckedURL, for waiter: FetchWaiter) {
    store.pin(file)
    pickWorker().perform { [self, store] in
      let isThere = store.touch(file)
      loop.post { [self] in
        if isThere {
          cache.withLock { $0.renew(url.text, at: loop.now) }
          answer(waiter, with: file)
        } else {
          cache.withLock { $0.remove(url.text) }
          begin(url, for: waiter)
        }
        store.unpin(file)
      }
    }
  }

  private func answer(_ waiter: FetchWaiter, with file: StoredFile) {
    store.pin(file)
    waiter.note { record in
      record.cache = .hit
      record.type = file.type
      record.bytes = file.size
    }
    if !waiter.complete(.success(file)) { store.unpin(file) }
  }

  /// Tells everyone who waits that a fetch has failed, and forgets it.
  func conclude(_ fetch: Fetch, _ failure: FetchFailure) {
    forget(fetch)
    for waiter in fetch.course.end() { waiter.complete(.failure(failure)) }
  }

  /// Remembers what a fetch has brought, and forgets the fetch.
  func keep(_ file: StoredFile, of fetch: Fetch) {
    forget(fetch)
    switch configuration.cache {
    case .off: break
    case .session: cache.withLock { $0.insert(file, for: fetch.key, at: loop.now) }
    case .http:
      guard let desk, let end = fetch.reuse.trustedUntil, end > desk.now else { return }
      cache.withLock { $0.insert(file, for: fetch.key, at: loop.now, until: loop.now.advanced(by: end - desk.now)) }
    }
  }

  private func forget(_ fetch: Fetch) {
    fetches[ObjectIdentifier(fetch)] = nil
    if joinable[fetch.key] === fetch { joinable[fetch.key] = nil }
  }

  /// Gives each waiter a pin of its own: the first the one that the file came with. Safe from any thread.
  func handOut(_ file: StoredFile, to waiters: [FetchWaiter]) {
    for _ in waiters.dropFirst() { store.pin(file) }
    if waiters.isEmpty { store.unpin(file) }
    for waiter in waiters where !waiter.complete(.success(file)) { store.unpin(file) }
  }

  /// Takes back a pin that nobody was given.
  func letGo(of file: StoredFile) {
    store.unpin(file)
  }

  // MARK: What fetches ask for

  private func pickWorker() -> MediaWorker {
    nextWorker = (nextWorker + 1) % workers.count
    return workers[nextWorker]
  }

  /// Gives a fetch a place at its origin.
  ///
  /// - Returns: nil when it may start; else what it waits for, in words.
  func enter(_ fetch: Fetch) -> String? {
    switch admission.enter(fetch.url.origin, fetch) {
    case .starts: nil
    case .waitsForOrigin: "one of \(admission.places) connections to \(fetch.url.host) (--per-host)"
    case .waitsForAny: "one of \(budget.transfers) connections, as many as \(budget.descriptors) descriptors allow (ulimit -n)"
    }
  }

  /// Gives back a fetch's place at an origin, to the next in the queue if there is one.
  func leave(origin: String) {
    guard let next = admission.leave(origin) else { return }
    // Not from within the call that gave the place back: it may be on the transport's stack.
    loop.post { next.placeGranted() }
  }

  func giveUpPlace(_ fetch: Fetch) {
    admission.giveUp(fetch.url.origin, fetch)
  }

  /// Has the fetch hand on its first bytes soon, unless it has come to its end.
  func gather(_ fetch: Fetch) {
    gathering.append(fetch)
    guard gatheringEnds == nil else { return }
    gatheringEnds = loop.schedule(at: loop.now.advanced(by: Self.gatheringTime)) { [self] in
      gatheringEnds = nil
      for fetch in gathering { fetch.handOnGathered() }
      gathering.removeAll(keepingCapacity: true)
    }
  }

  private func turnEnded() {
    transport.deliverEnds()
    desk?.turnEnded()
  }
}
