/// The fetch of one URL into the store. It carries out the actions of its ``FetchState`` and reports
/// the results to it. On the loop only.
final class Fetch: OriginLimiterClient {
  /// How long a transfer may receive nothing before it is set aside. Without this, 16 stalled URLs
  /// made 240 of 500 healthy pictures of their host fall back at 5 s.
  static let stallTime = Duration.milliseconds(500)

  private enum OriginPlace {
    case none, waiting, taken, aside
  }

  var tracker = FetchTracker()
  let engine: FetchEngine
  var state: FetchState
  var isQueued = false

  /// Until when the file may be reused for the URL; nil when it must not be.
  var keptUntil: MonotonicInstant?
  /// What the exchanges have shown about the origin of the requested URL.
  private var originHealth = OriginHealth()
  private var place = OriginPlace.none
  private var timer: TimerEntry?
  var transfer: (any Transfer)?
  /// Whether the transfer is paused until the ingest can take more.
  var isPaused = false
  /// When the transfer last received something, and the timer that checks it.
  var latestNews = MonotonicInstant.distantPast
  private var lookTimer: TimerEntry?
  var ingest: MediaIngest?
  /// The number of the body that `ingest` receives.
  var ingestBody = 0
  /// The complete picture that must be converted, and its place in the queue.
  var picture: SourcePicture?
  var claim: ConverterQueue.Claim?

  /// - Parameters:
  ///   - fields: the operator's header lines for the origin of the URL.
  ///   - refusal: why the circuit breaker refuses to send the request.
  init(_ url: CheckedURL, fields: [String], engine: FetchEngine, refusal: FetchFailure?) {
    state = FetchState(url, fields: fields, engine.rulesOfFetches, refusal: refusal)
    self.engine = engine
  }

  /// The URL of the current hop.
  var url: CheckedURL { state.url }

  /// Begins for a waiter.
  func begin(for waiter: FetchWaiter) {
    waiter.fetch = self
    tracker.begin(waiter)
    act(on: .begun)
  }

  /// Ends, because the waiter was cancelled.
  func leave() {
    if tracker.leave() { fail(FetchFailure(reason: .cancelled)) }
  }

  /// The time until the deadline of the waiter.
  var budget: Duration {
    tracker.waiter.map { engine.loop.now.duration(to: $0.deadline) } ?? .zero
  }

  /// Handles an event, and carries out the resulting action.
  func act(on event: FetchState.Event) {
    let action = state.handle(event)
    if ingestBody != state.body { ingest = nil }
    switch action {
    case .none, .proceed, .stop: break
    case .lookUp: if let cache = engine.cache { act(on: .lookedUp(cache.lookUp(url, state.fields, state.clearance))) }
    case .resolve(let host): resolve(host)
    case .confirm(let file): if let cache = engine.cache { act(on: .confirmed(cache.pin(file))) }
    case .enter: enter()
    case .transfer: beginTransfer()
    case .finish: finish()
    case .convert: convert()
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

  func fail(_ failure: FetchFailure) {
    act(on: .failed(failure))
  }

  /// Ends without calling the waiter, because the engine ends.
  func abandon() {
    _ = state.handle(.failed(FetchFailure(reason: .cancelled)))
    _ = tracker.end()
    if let timer { engine.loop.cancel(timer) }
    if let lookTimer { engine.loop.cancel(lookTimer) }
    (ingest, picture, claim) = (nil, nil, nil)
  }

  /// Ends the timers, the transfer and the ingest, and gives back the place at the origin.
  func release() {
    if let timer { engine.loop.cancel(timer) }
    transfer?.cancel()
    (transfer, ingest, picture, claim) = (nil, nil, nil, nil)
    leavePlace()
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
      act(on: .begun)
    }
  }

  // MARK: The health of the origin

  /// What the fetch has shown about the origin of the requested URL.
  var health: OriginHealth {
    originHealth.ended(isSent: transfer?.isSent == true, at: engine.loop.now)
  }

  /// Records an event of an exchange with the origin of the requested URL.
  func noteHealth(_ change: (inout OriginHealth) -> Void) {
    if !state.isRedirected { change(&originHealth) }
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
    // The waiter may have been cancelled without being removed yet.
    guard tracker.isAwaited else { return fail(FetchFailure(reason: .cancelled)) }
    act(on: .placeGranted)
  }

  func leavePlace() {
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

  func lookForNews(at instant: MonotonicInstant) {
    lookTimer = engine.loop.schedule(at: instant) { [self] in lookForNews() }
  }

  /// Sets the transfer aside if it receives nothing, so that it does not block others of its
  /// origin.
  private func lookForNews() {
    lookTimer = nil
    guard place == .taken else { return }
    let (now, due) = (engine.loop.now, latestNews.advanced(by: Self.stallTime))
    guard now >= due else { return lookForNews(at: due) }
    if engine.setAside(self) { place = .aside } else { lookForNews(at: now.advanced(by: Self.stallTime)) }
  }
}

/// The use of the HTTP cache by a fetch: look up a hop before requesting it, revalidate a stale
/// response, and store an accepted one.
extension Fetch {
  /// Ends the fetch with a file of the store. The file is already pinned.
  func serve(_ entry: CacheEntry, as cache: MediaRecord.Cache) {
    if cache == .revalidated { keepEntry(of: entry.file, isRefreshed: true) } else { engine.cache?.noteUse(of: entry) }
    tracker.note { record in
      record.cache = cache
      record.type = entry.file.type
      record.bytes = entry.file.size
    }
    let waiter = tracker.end(with: entry.file)
    release()
    engine.keep(entry.file, of: self)
    engine.handOut(entry.file, to: waiter)
  }

  /// Updates or removes the index entry according to an accepted response.
  func keepEntry(of file: StoredFile, isRefreshed: Bool) {
    guard let cache = engine.cache else { return }
    let pixels = engine.configuration.limits.pixels
    switch state.reuse.conclusion(file, isRefreshed: isRefreshed, pixels: pixels, isPublic: state.isPublic) {
    case .none: break
    case .keep(let entry): cache.keep(entry)
    case .forget(let key): cache.forget(key)
    }
  }
}

/// The progress and the waiter of a fetch. On the loop only.
struct FetchTracker {
  private(set) var progress = FetchProgress()
  private(set) var waiter: FetchWaiter?
  private var isCancelled = false
  private var isOver = false

  /// Whether the waiter was not cancelled.
  var isAwaited: Bool { waiter != nil && !isCancelled }

  /// Updates the progress of the fetch.
  mutating func note(_ change: (inout FetchProgress) -> Void) {
    change(&progress)
    if let trace = waiter?.trace { trace.note(progress.raw(of: trace.fetch)) }
  }

  /// Records that the fetch waits for a connection.
  mutating func beginWait(for awaited: FetchProgress.Awaited, at now: MonotonicInstant) {
    note { ($0.awaited, $0.waitingSince) = (awaited, now) }
  }

  /// Records the end of the wait, if there was one.
  mutating func endWait(at now: MonotonicInstant) {
    note { progress in
      guard let since = progress.waitingSince.take() else { return }
      progress.timing.wait = (progress.timing.wait ?? .zero) + since.duration(to: now)
    }
  }

  mutating func begin(_ waiter: FetchWaiter) {
    self.waiter = waiter
  }

  /// Records that the waiter was cancelled. ``leave()`` removes it later.
  mutating func markCancelled() {
    isCancelled = true
  }

  /// Removes the cancelled waiter.
  ///
  /// - Returns: false when the tracker has ended.
  mutating func leave() -> Bool {
    guard !isOver else { return false }
    waiter = nil
    return true
  }

  /// Ends the tracker.
  ///
  /// - Returns: the waiter, whose record has the progress; nil when there is none, or when the
  ///   tracker had already ended.
  mutating func end(with file: StoredFile? = nil) -> FetchWaiter? {
    guard !isOver else { return nil }
    isOver = true
    if let file { note { $0.type = file.type } }
    waiter?.follow(.ended(progress))
    return waiter.take()
  }
}
