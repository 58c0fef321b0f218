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
  private let queue: any PayloadLeasing & QueueAdministration
  private let configuration: WorkerConfiguration
  private let host: ServiceExtensionHost
  private let store: AttachmentStore
  private let clock: MonotonicClock
  private let queueClock: any QueueClock
  private let machine: any Machine
  private let state: Mutex<WorkerState>
  private let claiming: any WakeSignal
  private let settler: WorkerSettler
  private let places: (@Sendable () -> Int)?
  let renewer: LeaseRenewer

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
    machine = clock.machine
    state = Mutex(WorkerState(jobs: configuration.filter.jobs, isOnce: configuration.isOnce, pause: configuration.pause))
    claiming = try machine.makeWakeSignal()
    settler = try WorkerSettler(
      configuration, queue: queue, store: store, clock: clock, queueClock: queueClock, observer: observer, notify: notify)
    renewer = try LeaseRenewer(span: configuration.leaseSpan, clock: queueClock, machine: machine) { leases, span throws(QueueError) in
      _ = try queue.renew(leases, for: span)
    }
  }

  /// Works until every payload has a result (``WorkerConfiguration/isOnce``) or ``stop()``. The
  /// calling thread claims.
  ///
  /// - Returns: the counts of the run, and whether work is left.
  /// - Throws: the queue's error. Another worker processes the payloads in flight again.
  public func run() throws(QueueError) -> WorkerResult {
    let start = machine.now
    let processor: LineProcessor
    do throws(SystemError) {
      processor = try LineProcessor(configuration.filter, host: host, store: store, clock: clock)
    } catch {
      throw .system(error)
    }
    let (settling, renewing) = try started()
    while advance(processor) {}
    settler.finish()
    settling.join()
    renewer.finish()
    renewing.join()
    if let failure = state.withLock(\.failure) { throw failure }
    var result = settler.result
    result.elapsed = start.duration(to: machine.now)
    result.summary.droppedOffers = host.droppedOffers
    result.isWorkLeft = if state.withLock(\.leavesWork) { true } else { try queue.counts().undecided > 0 }
    return result
  }

  private func started() throws(QueueError) -> (settling: any StartedThread, renewing: any StartedThread) {
    do throws(SystemError) {
      let renewing = try machine.start("renew") { [self] in
        renewer.run(
          due: { before in state.withLock { $0.renewals(before: before) } },
          renewed: { tokens, now in state.withLock { $0.renewed(tokens, at: now) } }, failed: pauseOrFail)
      }
      do throws(SystemError) {
        return (try machine.start("settle") { [self] in settler.run(settlerOwner) }, renewing)
      } catch {
        renewer.finish()
        renewing.join()
        throw error
      }
    } catch {
      throw .system(error)
    }
  }

  private var settlerOwner: WorkerSettler.Owner {
    WorkerSettler.Owner(
      take: { [self] limit in state.withLock { $0.takeSettled(limit) } },
      isCancelled: { [self] in state.withLock { $0.isCancelled || $0.failure != nil } },
      isStopped: { [self] in state.withLock { $0.isStopped || $0.failure != nil } },
      paused: { [self] in pause($0) }, settled: { [self] in settled($0) })
  }

  /// Claims nothing more. Payloads in flight are finished. Safe from any thread.
  public func stop() {
    change { $0.stop() }
    settler.interrupt()
  }

  /// Claims nothing more, and gives back payloads in flight. Safe from any thread.
  public func cancel() {
    change { $0.cancel() }
    settler.interrupt()
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
      if state.fault != before { settler.observer.paused(state.fault?.text) }
      if let notice = state.pauses.note(state.fault, at: clock.now) { settler.say(notice) }
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
        settler.observer.holding(state.withLock { $0.held.count })
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
      settler.wake()
    }
    guard lease.deathsAlone < configuration.poisonAfter else { return decided(Decision(.fallback, .queuePoison), .zero) }
    guard let line = lease.line else { return decided(Decision(.passthrough, .payloadSize), .zero) }
    processor.take(line, identifier: "\(lease.token.id)", deadline: deadline, refusal: isExpired ? .queueExpired : nil, decided: decided)
  }

  // MARK: - Settling

  /// Handles a group that the settler has settled, or could not settle.
  private func settled(_ group: SettledGroup) {
    change { $0.release(group.settlements, fault: group.fault, at: clock.now) }
    settler.observer.holding(state.withLock { $0.held.count })
    // A failure of the machine that makes a stopped worker leave payloads is reported once.
    guard let failure = group.failure, !state.withLock(\.leavesWork) else { return }
    fail(failure)
    if state.withLock(\.leavesWork) { settler.say(.left("\(failure)")) }
  }

  private func pauseOrFail(_ error: QueueError) {
    if let fault = MachineFault(error) { pause(fault) } else { fail(error) }
  }

  private func fail(_ error: QueueError) {
    change { $0.fail(error) }
    settler.interrupt()
    host.cancelAll()
  }
}
