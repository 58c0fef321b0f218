public import Attache
internal import Synchronization

/// Works a queue: claims payloads, has each given its media within its deadline, and gives each
/// exactly one result.
///
/// One thread claims and begins, as the filter's reader does. Another settles: it makes sure of the
/// attachments, and hands results to the queue in groups. A third renews the leases. While the
/// machine fails, such as by a full disk, the worker pauses: it claims nothing and uses up no
/// tries.
public final class QueueWorker: Sendable {
  private let queue: any PayloadQueue
  private let configuration: WorkerConfiguration
  private let host: ServiceExtensionHost
  private let store: AttachmentStore
  private let clock: any DeadlineClock
  private let queueClock: any QueueClock
  private let machine: any Machine
  private let state: Mutex<WorkerState>
  private let claiming: any WakeSignal
  private let settler: WorkerSettler
  let renewer: LeaseRenewer

  /// - Parameters:
  ///   - queue: stays the caller's, who closes it after the run.
  ///   - host: serves the candidates.
  ///   - store: where the attachments are.
  ///   - clock: the host's clock.
  ///   - queueClock: the queue's: leases and expiries are measured by it.
  ///   - observer: is told of each payload.
  ///   - tell: receives what the user should know, on a thread of its own.
  /// - Throws: ``SystemError`` when the system gives no descriptor.
  public init(
    _ configuration: WorkerConfiguration, queue: any PayloadQueue, host: ServiceExtensionHost, store: AttachmentStore,
    clock: any DeadlineClock, queueClock: any QueueClock = SystemQueueClock(), observer: any WorkerObserver,
    notify: @escaping @Sendable (WorkerNotice) -> Void = { _ in }
  ) throws(SystemError) {
    self.configuration = configuration
    self.queue = queue
    self.host = host
    self.store = store
    self.clock = clock
    self.queueClock = queueClock
    machine = clock.machineBehind
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
  /// - Throws: what the queue refuses; what was in flight is worked again by whoever comes next.
  public func run() throws(QueueError) -> WorkerResult {
    let start = machine.now
    let desk: LineProcessor
    do throws(SystemError) {
      desk = try LineProcessor(configuration.filter, host: host, store: store, clock: clock)
    } catch {
      throw .system(error)
    }
    let (settling, renewing) = try started()
    while advance(desk) {}
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
          renewed: { tokens, now in state.withLock { $0.renewed(tokens, at: now) } }, failed: fail)
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

  /// Claims nothing more; what is in flight is finished. Safe from any thread.
  public func stop() {
    change { $0.stop() }
    settler.interrupt()
  }

  /// Claims nothing more, and gives back what is in flight. Safe from any thread.
  public func cancel() {
    change { $0.cancel() }
    settler.interrupt()
    host.cancelAll()
  }

  /// Says that payloads were enqueued, so that they are not found only by the next look at the
  /// queue. Safe from any thread.
  public func lookAgain() {
    change { $0.lookAgain() }
  }

  /// Has the run end when every payload that is in the queue by now has a result. Safe from any
  /// thread.
  public func endWhenDone() {
    change { $0.endWhenDone() }
  }

  /// Changes the state, tells of a pause and of its end, and has the claiming thread look.
  private func change(_ body: (inout WorkerState) -> Void) {
    changeQuietly(body)
    claiming.ring()
  }

  /// The same on the claiming thread, which looks anyway.
  private func changeQuietly(_ body: (inout WorkerState) -> Void) {
    state.withLock { state in
      let before = state.fault
      body(&state)
      // Under the lock, so that a pause and its end are told in their order; neither call waits.
      if state.fault != before { settler.observer.paused(state.fault?.text) }
      if let notice = state.pauses.note(state.fault, at: clock.now) { settler.say(notice) }
    }
  }

  /// How long a pause is.
  var pause: Duration { configuration.pause }

  /// The machine fails: nothing is claimed for a while. Safe from any thread.
  func pause(_ fault: MachineFault) {
    change { $0.pause(fault, at: clock.now) }
  }

  // MARK: - Claiming

  /// Does the next thing.
  ///
  /// - Returns: whether there is more to do.
  private func advance(_ desk: LineProcessor) -> Bool {
    do throws(QueueError) {
      switch state.withLock({ $0.step(at: clock.now) }) {
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
        for lease in claim.leases { begin(lease, desk) }
      }
    } catch {
      if let fault = MachineFault(error) { pause(fault) } else { fail(error) }
    }
    return true
  }

  /// Sees whether the store takes files again.
  private func probe() {
    do throws(StoreError) {
      try store.probe()
      change { $0.endPause() }
    } catch {
      pause(MachineFault(error.reason, "\(error)"))
    }
  }

  private func begin(_ lease: Lease, _ desk: LineProcessor) {
    let remaining = lease.expiresAt.map { $0 - queueClock.wall }
    let isExpired = remaining.map { $0 <= .zero } ?? false
    let budget = configuration.filter.deadline
    // What has expired has no deadline of its own that it could miss.
    let deadline = clock.now.advanced(by: isExpired ? budget : min(budget, remaining ?? budget))
    let decided: @Sendable (DecidedPayload) -> Void = { [self] payload in
      state.withLock { $0.settle(Settlement(lease: lease, payload: payload, deadline: deadline)) }
      settler.wake()
    }
    guard lease.deathsAlone < configuration.poisonAfter else { return decided(DecidedPayload(.fallback, .queuePoison)) }
    guard let line = lease.line else { return decided(DecidedPayload(.passthrough, .payloadSize)) }
    desk.take(line, identifier: "\(lease.token.id)", deadline: deadline, refusal: isExpired ? .queueExpired : nil, decided: decided)
  }

  // MARK: - Settling

  /// The settler has dealt with payloads, or could not.
  private func settled(_ group: SettledGroup) {
    change { $0.release(group.settlements, fault: group.fault, at: clock.now) }
    settler.observer.holding(state.withLock { $0.held.count })
    // A machine that fails a stopped worker is told of once.
    guard let failure = group.failure, !state.withLock(\.leavesWork) else { return }
    fail(failure)
    if state.withLock(\.leavesWork) { settler.say(.left("\(failure)")) }
  }

  private func fail(_ error: QueueError) {
    change { $0.fail(error) }
    settler.interrupt()
    host.cancelAll()
  }
}
