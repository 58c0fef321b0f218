/// The fetch of one URL into the store, shared by all its waiters. It carries out the actions of
/// its ``FetchState`` and reports the results to it. On the loop only.
final class Fetch: OriginLimiterClient {
  /// How long a transfer may receive nothing before it is set aside. Without this, 16 stalled URLs
  /// made 240 of 500 healthy pictures of their host fall back at 5 s.
  static let patience = Duration.milliseconds(500)

  private enum OriginPlace {
    case none, waiting, taken, aside
  }

  /// The requested URL. Other requests join the fetch by this key.
  let key: String
  var tracker = FetchTracker()
  let engine: FetchEngine
  var state: FetchState
  var isQueued = false

  /// Whether this fetch is the circuit breaker's probe.
  private var isProbe = false
  private var place = OriginPlace.none
  private var timer: TimerEntry?
  private var transfer: (any Transfer)?
  /// Whether the transfer is paused until the ingest can take more.
  private var isPaused = false
  /// When the transfer last received something, and the timer that checks it.
  private var latestNews = MonotonicInstant.distantPast
  private var lookTimer: TimerEntry?
  private var ingest: MediaIngest?
  /// The number of the body that `ingest` receives.
  private var ingestBody = 0

  init(_ url: CheckedURL, engine: FetchEngine) {
    state = FetchState(url, engine.rulesOfFetches)
    self.engine = engine
    key = url.text
  }

  /// The URL of the current hop.
  var url: CheckedURL { state.url }

  // MARK: Waiters

  /// Adds a waiter, unless the fetch is over or has been abandoned by all its waiters.
  func add(_ waiter: FetchWaiter) -> FetchTracker.JoinResult {
    waiter.fetch = self
    waiter.follow(tracker.published)
    return tracker.join(waiter)
  }

  /// Removes a waiter. When the last waiter leaves, the fetch is cancelled.
  func remove(_ waiter: FetchWaiter) {
    if tracker.leave(waiter) { fail(FetchFailure(reason: .cancelled)) }
  }

  /// The time until the latest deadline of the waiters.
  var budget: Duration {
    tracker.latestDeadline.map { engine.loop.now.duration(to: $0) } ?? .zero
  }

  // MARK: What is to be done

  func begin() {
    act(on: .begun)
  }

  /// Handles an event, and carries out the resulting action.
  func act(on event: FetchState.Event) {
    let action = state.handle(event)
    if ingestBody != state.body { ingest = nil }
    switch action {
    case .none, .proceed, .stop: break
    case .lookUp: if let cache = engine.cache { act(on: .lookedUp(cache.lookUp(url, state.clearance))) }
    case .askBreaker: act(on: .admitted(passesBreaker()))
    case .resolve(let host): resolve(host)
    case .confirm(let file): if let cache = engine.cache { act(on: .confirmed(cache.pin(file))) }
    case .enter: enter()
    case .transfer: beginTransfer()
    case .finish: finish()
    case .pause(let failure, let asked): pause(after: failure, asked: asked)
    case .handOut(let file):
      release()
      keepEntry(of: file, isRefreshed: false)
      engine.keep(file, of: self)
      engine.handOut(file, to: tracker.end(with: file))
    case .serve(let entry, let cache): serve(entry, as: cache)
    case .fail(let failure):
      release()
      engine.conclude(self, failure)
    }
  }

  private func fail(_ failure: FetchFailure) {
    act(on: .failed(failure))
  }

  /// Ends without calling the waiters, because the engine ends.
  func abandon() {
    _ = state.handle(.failed(FetchFailure(reason: .cancelled)))
    _ = tracker.end()
    if let timer { engine.loop.cancel(timer) }
    if let lookTimer { engine.loop.cancel(lookTimer) }
    ingest = nil
  }

  /// Ends the timers, the transfer and the ingest, and gives back the place at the origin.
  func release() {
    if let timer { engine.loop.cancel(timer) }
    transfer?.cancel()
    (transfer, ingest) = (nil, nil)
    leavePlace()
    if isProbe { note(nil) }
  }

  private func resolve(_ host: String) {
    let started = engine.loop.now
    engine.resolver.resolve(host) { [self] result in
      guard !state.isOver else { return }
      tracker.note { $0.timing.dns = started.duration(to: engine.loop.now) }
      act(on: .resolved(result))
    }
  }

  private func pause(after failure: FetchFailure, asked: Duration?) {
    let now = engine.loop.now
    guard
      let instant = engine.retryPolicy.next(
        after: state.tries, now: now, budgetEnds: now.advanced(by: budget), asked: asked, jitter: engine.loop.machine.randomFraction)
    else { return fail(failure) }
    timer = engine.loop.schedule(at: instant) { [self] in
      timer = nil
      begin()
    }
  }

  // MARK: The circuit breaker

  private func passesBreaker() -> Bool {
    guard !isProbe else { return true }
    switch engine.breaker.admit(to: url.origin, at: engine.loop.now) {
    case .pass: return true
    case .probe:
      isProbe = true
      return true
    case .refuse: return false
    }
  }

  /// Reports to the circuit breaker what the exchange says about its origin.
  private func note(_ sign: OriginHealthSignal?) {
    if let sign {
      engine.breaker.note(sign, of: url.origin, at: engine.loop.now, isProbe: isProbe)
    } else if isProbe {
      engine.breaker.giveUpProbe(of: url.origin, at: engine.loop.now)
    }
    isProbe = false
  }

  // MARK: The place at the origin

  private func enter() {
    place = .waiting
    guard let awaited = engine.enter(self) else { return placeGranted() }
    tracker.beginWait(for: awaited, at: engine.loop.now)
  }

  /// Called when the fetch gets a place at the origin and may start its transfer.
  func placeGranted() {
    place = .taken
    tracker.endWait(at: engine.loop.now)
    guard !state.isOver else { return leavePlace() }
    // All waiters may have been cancelled without being removed yet.
    guard tracker.isAwaited else { return fail(FetchFailure(reason: .cancelled)) }
    act(on: .placeGranted)
  }

  private func leavePlace() {
    if let lookTimer { engine.loop.cancel(lookTimer) }
    lookTimer = nil
    switch place {
    case .none: break
    case .waiting: engine.giveUpPlace(self)
    case .taken: engine.leave(origin: url.origin, isAside: false)
    case .aside: engine.leave(origin: url.origin, isAside: true)
    }
    place = .none
  }

  private func lookForNews(at instant: MonotonicInstant) {
    lookTimer = engine.loop.schedule(at: instant) { [self] in lookForNews() }
  }

  /// Sets the transfer aside if it receives nothing, so that it does not block others of its
  /// origin.
  private func lookForNews() {
    lookTimer = nil
    guard place == .taken else { return }
    let (now, due) = (engine.loop.now, latestNews.advanced(by: Self.patience))
    guard now >= due else { return lookForNews(at: due) }
    if engine.setAside(self) { place = .aside } else { lookForNews(at: now.advanced(by: Self.patience)) }
  }
}

// MARK: The transfer

extension Fetch: TransferOwner {
  private func beginTransfer() {
    tracker.note { $0.attempts += 1 }
    if let cache = engine.cache { state.reuse.asked = cache.now }
    do throws(TransportError) {
      let request = TransferRequest(
        url: url, addresses: state.addressesInTurn, proxy: engine.proxy, resumption: state.resumption, conditions: state.conditions,
        avoidsHTTP2: state.avoidsHTTP2, connectTimeout: budget / 3)
      transfer = try engine.transport.begin(request, for: self)
      latestNews = engine.loop.now
      lookForNews(at: latestNews.advanced(by: Self.patience))
    } catch {
      fail(FetchFailure(reason: .internal, message: "\(error)"))
    }
  }

  func transferReceivedHead(_ head: ResponseHead) -> Bool {
    let goesOn = goesOn(after: .head(head, at: engine.cache?.now))
    latestNews = engine.loop.now
    noteTimes(transfer?.times, status: head.status)
    // A response of the proxy itself says nothing about the origin.
    if engine.proxy == nil || head.status != 407 { note(OriginHealthSignal(status: head.status)) }
    return goesOn
  }

  func transferReceivedBody(_ bytes: UnsafeRawBufferPointer) -> BodyVerdict {
    let ingest = openIngest()
    guard !ingest.isFull else {
      isPaused = true
      return .pause
    }
    let expected = state.expected(with: bytes.count)
    latestNews = engine.loop.now
    let isWanted = goesOn(after: .body(bytes.count))
    tracker.note { $0.bytes = state.received }
    guard isWanted else { return .stop }
    do throws(FetchFailure) {
      try unsafe ingest.take(bytes, expecting: expected)
    } catch {
      _ = state.handle(.refused(error))
    }
    let isAllowed = noteType(of: ingest)
    askDetector(about: ingest)
    return isAllowed && state.failure == nil ? .take : .stop
  }

  func transferEnded(_ end: TransferEnd) {
    noteTimes(end.times)
    (transfer, isPaused) = (nil, false)
    // A head was reported when it arrived.
    if !state.hasHead { note(state.failure == nil ? OriginHealthSignal(end) : nil) }
    leavePlace()
    act(on: .ended(end))
  }

  /// Reports an event to the state where nothing may be started or ended, such as in a call from
  /// the transport.
  ///
  /// - Returns: whether the transfer continues.
  private func goesOn(after event: FetchState.Event) -> Bool {
    let action = state.handle(event)
    if ingestBody != state.body { ingest = nil }
    return if case .proceed = action { true } else { false }
  }

  private func noteTimes(_ times: TransferTimes?, status: Int? = nil) {
    tracker.note { record in
      if let status { record.status = status }
      guard let times else { return }
      record.timing.connect = times.connect
      record.timing.tls = times.tls
      record.timing.firstByte = times.firstByte
    }
  }
}

// MARK: The file

extension Fetch {
  private func openIngest() -> MediaIngest {
    if let ingest { return ingest }
    let ingest = engine.makeIngest()
    (self.ingest, ingestBody) = (ingest, state.body)
    return ingest
  }

  /// Finishes the file after all its bytes have arrived.
  private func finish() {
    let ingest = openIngest()
    do throws(FetchFailure) {
      if let file = try ingest.finish() { take(file) } else { askDetector(about: ingest) }
    } catch {
      noteType(of: ingest)
      fail(error)
    }
  }

  private func take(_ file: StoredFile) {
    guard !state.isOver else { return engine.release(of: file) }
    act(on: .stored(file))
  }

  private func askDetector(about ingest: MediaIngest) {
    guard let question = ingest.takeQuestion() else { return }
    engine.detectors.ask(question) { [self] in
      tracker.isAwaited
    } answer: { [self, body = ingestBody] detection in
      // A result for an earlier body is ignored.
      if body == ingestBody, let ingest = self.ingest { handle(detection, ingest) }
    }
  }

  private func handle(_ detection: Detection, _ ingest: MediaIngest) {
    do throws(FetchFailure) {
      if let file = try ingest.handle(detection) { return take(file) }
      if noteType(of: ingest) { resume() } else if let failure = state.failure { fail(failure) }
    } catch {
      noteType(of: ingest)
      fail(error)
    }
  }

  /// Resumes a paused transfer when the ingest can take more.
  private func resume() {
    guard isPaused else { return }
    isPaused = false
    guard let transfer, !transfer.resume() else { return }
    fail(state.failure ?? FetchFailure(reason: transfer.fault ?? .internal))
  }

  /// - Returns: false when a file of this type may not be that large.
  @discardableResult
  private func noteType(of ingest: MediaIngest) -> Bool {
    guard let type = ingest.type, state.type != type else { return true }
    tracker.note { $0.type = type }
    return goesOn(after: .recognised(type))
  }
}
