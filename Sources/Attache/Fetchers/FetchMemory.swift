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
  private let breaker = Mutex(CircuitBreaker())
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
    let verdict = breaker.withLock { $0.admit(url.target, of: url.origin, at: machine.now, jitter: machine.randomFraction) }
    guard case .refuse(let refusal) = verdict else { return nil }
    return FetchFailure(refusal)
  }

  /// Whether a file may be found for a URL without a request to its origin.
  func mayHave(_ url: CheckedURL) -> Bool {
    configuration.cache == .http || file(for: url.text) != nil
  }

  /// Records what a request has shown about the origin that it names.
  func note(_ health: OriginHealth, of url: CheckedURL) {
    breaker.withLock {
      $0.note(health, of: url.origin, target: url.target, at: machine.now)
      hasFailures.store($0.hasFailures, ordering: .relaxed)
    }
  }

  /// The number of remembered origins in each state of the circuit breaker.
  var breakerStates: BreakerStates { breaker.withLock { $0.states(at: machine.now) } }

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
