public import Attache
internal import Synchronization

/// Works a queue: claims payloads, has each given its media within its deadline, and gives each exactly one result.
///
/// One thread claims and begins, as the filter's reader does; another settles: it makes sure of the attachments, and hands results to the queue in groups.
public final class QueueWorker: Sendable {
  private let queue: any PayloadQueue
  private let configuration: WorkerConfiguration
  private let hosts: [ServiceExtensionHost]
  private let store: AttachmentStore
  private let clock: any DeadlineClock
  private let queueClock: any QueueClock
  private let machine: any Machine
  private let state: Mutex<WorkerState>
  private let claiming: any Bell
  private let settler: WorkerSettler

  /// - Parameters:
  ///   - queue: stays the caller's, who closes it after the run.
  ///   - hosts: serve the candidates; each has an engine of its own.
  ///   - store: where the attachments are.
  ///   - clock: the hosts' clock.
  ///   - queueClock: what a payload's expiry is compared to.
  ///   - observer: is told of each payload.
  ///   - explain: told about the first payload that falls back for each reason, and then once an hour.
  /// - Throws: ``SystemError`` when the system gives no descriptor.
  public init(
    _ configuration: WorkerConfiguration, queue: any PayloadQueue, hosts: [ServiceExtensionHost], store: AttachmentStore,
    clock: any DeadlineClock, queueClock: any QueueClock = SystemQueueClock(), observer: any WorkerObserver,
    explain: @escaping @Sendable (Explanation) -> Void = { _ in }
  ) throws(SystemError) {
    self.configuration = configuration
    self.queue = queue
    self.hosts = hosts
    self.store = store
    self.clock = clock
    self.queueClock = queueClock
    machine = clock.machineBehind
    state = Mutex(WorkerState(jobs: configuration.filter.jobs, isOnce: configuration.isOnce))
    claiming = try machine.makeBell()
    settler = try WorkerSettler(
      configuration, queue: queue, store: store, clock: clock, queueClock: queueClock, observer: observer, explain: explain)
  }

  /// Works until every payload has a result (``WorkerConfiguration/isOnce``) or ``stop()``. The calling thread claims.
  ///
  /// - Throws: what the queue refuses; what was in flight is worked again by whoever comes next.
  public func run() throws(QueueError) -> WorkerResult {
    let start = machine.now
    let desk: PayloadDesk
    let settling: any StartedThread
    do {
      desk = try PayloadDesk(configuration.filter, hosts: hosts, store: store, clock: clock)
      settling = try machine.start("settle") { [self] in
        settler.run(
          take: { limit in state.withLock { $0.takeSettled(limit) } },
          isCancelled: { state.withLock { $0.isCancelled || $0.failure != nil } }, settled: settled)
      }
    } catch {
      throw .failed("the system refuses: \(error)")
    }
    while advance(desk) {}
    settler.finish()
    settling.join()
    if let failure = state.withLock(\.failure) { throw failure }
    var result = settler.result
    result.elapsed = start.duration(to: machine.now)
    result.summary.droppedOffers = hosts.reduce(0) { $0 + $1.droppedOffers }
    result.isWorkLeft = try queue.counts().undecided > 0
    return result
  }

  /// Claims nothing more; what is in flight is finished. Safe from any thread.
  public func stop() {
    change { $0.stop() }
  }

  /// Claims nothing more, and gives back what is in flight. Safe from any thread.
  public func cancel() {
    change { $0.cancel() }
    for host in hosts { host.cancelAll() }
  }

  /// Says that payloads were enqueued, so that they are not found only by the next look at the queue. Safe from any thread.
  public func lookAgain() {
    change { $0.lookAgain() }
  }

  /// Has the run end when every payload that is in the queue by now has a result. Safe from any thread.
  public func endWhenDone() {
    change { $0.endWhenDone() }
  }

  private func change(_ body: (inout WorkerState) -> Void) {
    state.withLock { body(&$0) }
    claiming.ring()
  }

  // MARK: - Claiming

  /// Does the next thing.
  ///
  /// - Returns: whether there is more to do.
  private func advance(_ desk: PayloadDesk) -> Bool {
    do throws(QueueError) {
      let renewal = try renew()
      switch state.withLock({ $0.step(at: clock.now) }) {
      case .end: return false
      case .wait(let instant): claiming.wait(until: min(instant, renewal))
      case .claim(let limit, let bytes, let isAlone):
        state.withLock { $0.beginClaim() }
        let request = ClaimRequest(limit: limit, maximumBytes: bytes, span: configuration.leaseSpan, isAlone: isAlone)
        let claim = try queue.claim(request)
        let held = state.withLock { state in
          state.note(claim, isAlone: isAlone, at: clock.now)
          return state.held.count
        }
        settler.observer.holding(held)
        for lease in claim.leases { begin(lease, desk) }
      }
    } catch {
      fail(error)
    }
    return true
  }

  /// Renews the leases when the oldest has lived for half its span, so that no payload is taken over from a worker that lives.
  ///
  /// - Returns: when to look again.
  private func renew() throws(QueueError) -> MonotonicInstant {
    let now = clock.now
    let half = configuration.leaseSpan / 2
    let tokens = state.withLock { $0.renewals(before: now.advanced(by: .zero - half), at: now) }
    // One that is lost is found out by its result, which is refused.
    if !tokens.isEmpty { _ = try queue.renew(tokens, for: configuration.leaseSpan) }
    return now.advanced(by: half / 2)
  }

  private func begin(_ lease: Lease, _ desk: PayloadDesk) {
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
  private func settled(_ settlements: [Settlement], _ failure: QueueError?) {
    let held = state.withLock { state in
      state.release(settlements)
      return state.held.count
    }
    settler.observer.holding(held)
    if let failure { fail(failure) } else { claiming.ring() }
  }

  private func fail(_ error: QueueError) {
    change { $0.fail(error) }
    for host in hosts { host.cancelAll() }
  }
}
