public import Attache
internal import Synchronization

/// Processes a queue: claims payloads, attaches their media within their deadlines, and gives each
/// payload exactly one result.
///
/// One thread claims payloads and starts them, as the filter's reader does. Another settles them:
/// it secures the attachments, and stores results in the queue in groups. A third renews the
/// leases. While the machine fails, for example because of a full disk, the worker pauses: it
/// claims nothing and uses up no attempts.
public final class QueueWorker: Sendable {
  let queue: any PayloadLeasing & QueueAdministration
  private let configuration: WorkerConfiguration
  private let host: ServiceExtensionHost
  private let store: AttachmentStore
  let clock: MonotonicClock
  private let queueClock: any QueueClock
  let observer: any WorkerObserver
  private let places: (@Sendable () -> Int)?
  let state: Mutex<WorkerState>
  private let claiming: any WakeSignal
  let renewer: LeaseRenewer
  // The settling thread's.
  let judge: SettlementJudge
  let explainer: Explainer
  /// Whether no decisions will follow.
  let areAllDecided: Mailbox<Bool>
  let settling: any WakeSignal
  /// The counts of the settled payloads.
  let figures = Mutex(WorkerResult())
  private let notify: @Sendable (WorkerNotice) -> Void

  /// - Parameters:
  ///   - queue: the caller closes it after the run.
  ///   - host: serves the candidates.
  ///   - store: the store of the attachments.
  ///   - clock: the host's clock.
  ///   - queueClock: the queue's clock, which measures leases and expiries.
  ///   - observer: receives an event for each payload.
  ///   - notify: receives messages for the user, on its own thread.
  ///   - places: returns how many payloads may be undecided at the moment, so that their pictures can
  ///     be converted in time; nil for no such limit. It must not wait.
  /// - Throws: ``SystemError`` when no descriptor is available.
  public init(
    _ configuration: WorkerConfiguration, queue: any PayloadLeasing & QueueAdministration, host: ServiceExtensionHost,
    store: AttachmentStore,
    clock: MonotonicClock, queueClock: any QueueClock = SystemQueueClock(), observer: any WorkerObserver,
    notify: @escaping @Sendable (WorkerNotice) -> Void = { _ in }, places: (@Sendable () -> Int)? = nil
  ) throws(SystemError) {
    self.configuration = configuration
    self.places = places
    self.queue = queue
    self.host = host
    self.store = store
    self.clock = clock
    self.queueClock = queueClock
    self.observer = observer
    self.notify = notify
    state = Mutex(WorkerState(jobs: configuration.filter.jobs, isOnce: configuration.isOnce, pause: configuration.pause))
    claiming = try clock.machine.makeWakeSignal()
    renewer = try LeaseRenewer(span: configuration.leaseSpan, clock: queueClock, machine: clock.machine) {
      leases, span throws(QueueError) in
      _ = try queue.renew(leases, for: span)
    }
    judge = SettlementJudge(configuration, store: store, clock: clock, queueClock: queueClock)
    let name = configuration.keepsQueue ? configuration.queue.description : nil
    explainer = try Explainer(machine: clock.machine, showing: configuration.filter.urlDetail) { notify(WorkerNotice($0, queue: name)) }
    let settling = try clock.machine.makeWakeSignal()
    self.settling = settling
    areAllDecided = Mailbox(false) { settling.ring() }
  }

  /// Works until every payload has a result (``WorkerConfiguration/isOnce``) or ``stop()``. The
  /// calling thread claims.
  ///
  /// - Returns: the counts of the run, and whether work is left.
  /// - Throws: the queue's error. Another worker processes the payloads in flight again.
  public func run() throws(QueueError) -> WorkerResult {
    let start = clock.now
    try renewer.run { [self] body in
      state.withLock { body(&$0.leases) }
    } failed: { [self] error in
      pauseOrFail(error)
    } during: { () throws(QueueError) in
      let processor: LineProcessor
      let thread: any StartedThread
      do throws(SystemError) {
        processor = try LineProcessor(configuration.filter, host: host, store: store, clock: clock)
        thread = try clock.machine.start("settle") { [self] in settle() }
      } catch {
        throw .system(error)
      }
      while advance(processor) {}
      areAllDecided.change { $0 = true }
      // The settling thread may be waiting for the machine.
      settling.ring()
      thread.join()
    }
    if let failure = state.withLock(\.failure) { throw failure }
    var result = figures.withLock(\.self)
    result.elapsed = start.duration(to: clock.now)
    result.summary.droppedOffers = host.droppedOffers
    result.isWorkLeft = if state.withLock(\.leavesWork) { true } else { try queue.counts().undecided > 0 }
    return result
  }

  /// Claims nothing more. Payloads in flight are finished. Safe from any thread.
  public func stop() {
    change { $0.stop() }
    settling.ring()
  }

  /// Claims nothing more, and gives back payloads in flight. Safe from any thread.
  public func cancel() {
    change { $0.cancel() }
    settling.ring()
    host.cancelAll()
  }

  /// Makes the worker check the queue for new payloads now, instead of at the next poll. Safe from
  /// any thread.
  public func lookAgain() {
    change { $0.lookAgain() }
  }

  /// Makes the worker claim if there are more places by now. Safe from any thread.
  package func lookForPlaces() {
    claiming.ring()
  }

  /// Ends the run when every payload in the queue has a result. Safe from any thread.
  public func endWhenDone() {
    change { $0.endWhenDone() }
  }

  /// Changes the state, reports the start and the end of a pause, and wakes the claiming thread.
  private func change(_ body: (inout WorkerState) -> Void) {
    changeQuietly(body)
    claiming.ring()
  }

  /// The same, for the claiming thread, which needs no wake-up.
  private func changeQuietly(_ body: (inout WorkerState) -> Void) {
    state.withLock { state in
      let before = state.fault
      body(&state)
      // Called under the lock, so that the reports are in order. Neither call waits.
      if state.fault != before { observer.paused(state.fault?.text) }
      if let notice = state.pauses.note(state.fault, at: clock.now) { say(notice) }
      if let notice = state.takeNotice() { say(notice) }
    }
  }

  /// The duration of a pause.
  var pause: Duration { configuration.pause }

  /// Claims nothing for a while, because the machine fails. Safe from any thread.
  func pause(_ fault: MachineFault) {
    change { $0.pause(fault, at: clock.now) }
  }

  // MARK: - Claiming

  /// Performs the next step.
  ///
  /// - Returns: whether there are more steps.
  private func advance(_ processor: LineProcessor) -> Bool {
    do throws(QueueError) {
      let limit = places?() ?? .max
      switch state.withLock({ $0.step(at: clock.now, limit: limit) }) {
      case .end: return false
      case .wait(let instant): claiming.wait(until: instant)
      case .probe: probe()
      case .claim(let limit, let bytes, let isAlone):
        state.withLock { $0.beginClaim() }
        let request = ClaimRequest(limit: limit, maximumBytes: bytes, span: configuration.leaseSpan, isAlone: isAlone)
        let leased = queueClock.uptime
        let claim = try queue.claim(request)
        changeQuietly { $0.note(claim, isAlone: isAlone, at: clock.now, leased: leased) }
        observer.holding(state.withLock { $0.leases.count })
        for lease in claim.leases { begin(lease, processor) }
      }
    } catch {
      pauseOrFail(error)
    }
    return true
  }

  /// Checks whether the store accepts files again.
  private func probe() {
    do throws(StoreError) {
      try store.probe()
      change { $0.endPause() }
    } catch {
      pause(MachineFault(error.reason, "\(error)"))
    }
  }

  private func begin(_ lease: Lease, _ processor: LineProcessor) {
    let remaining = lease.expiresAt.map { $0 - queueClock.wall }
    let isExpired = remaining.map { $0 <= .zero } ?? false
    let budget = configuration.filter.deadline
    // An expired payload gets the full deadline, because its expiry cannot be a deadline any more.
    let deadline = clock.now.advanced(by: isExpired ? budget : min(budget, remaining ?? budget))
    let decided: @Sendable (Decision, Duration) -> Void = { [self] decision, elapsed in
      state.withLock { $0.settle(Settlement(lease: lease, decision: decision, elapsed: elapsed, deadline: deadline)) }
      areAllDecided.change { _ in }
    }
    guard lease.deathsAlone < configuration.poisonAfter else { return decided(Decision(.fallback, .queuePoison), .zero) }
    guard let line = lease.line else { return decided(Decision(.passthrough, .payloadSize), .zero) }
    processor.take(line, identifier: "\(lease.token.id)", deadline: deadline, refusal: isExpired ? .queueExpired : nil, decided: decided)
  }

  // MARK: - Results and failures

  /// Releases a group that was handed to the queue.
  ///
  /// - Parameters:
  ///   - fault: the failure of the machine that a payload met. The payload was given back.
  ///   - failure: why the queue refuses everything from now on.
  func release(_ group: [Settlement], _ fault: MachineFault?, _ failure: QueueError?) {
    change { $0.release(group, fault: fault, at: clock.now) }
    observer.holding(state.withLock { $0.leases.count })
    // A failure of the machine that makes a stopped worker leave payloads is reported once.
    guard let failure, !state.withLock(\.leavesWork) else { return }
    fail(failure)
    if state.withLock(\.leavesWork) { say(.left("\(failure)")) }
  }

  /// Reports a message on the explainer's thread. Never waits.
  private func say(_ notice: WorkerNotice) {
    explainer.perform { [notify] in notify(notice) }
  }

  private func pauseOrFail(_ error: QueueError) {
    if let fault = MachineFault(error) { pause(fault) } else { fail(error) }
  }

  private func fail(_ error: QueueError) {
    change { $0.fail(error) }
    settling.ring()
    host.cancelAll()
  }
}
