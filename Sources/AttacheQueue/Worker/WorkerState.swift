internal import Attache

/// The state of a worker: the payloads that it holds, those that are settled and not in the queue
/// yet, and the next step. It makes decisions; ``QueueWorker`` carries them out.
struct WorkerState: Sendable {
  /// The next step of the claiming thread.
  enum Step: Equatable {
    case claim(limit: Int, bytes: Int, isAlone: Bool)
    /// Wait for a change, or until the instant.
    case wait(until: MonotonicInstant)
    /// The pause is over: check whether the store accepts files again.
    case probe
    case end
  }

  /// How long a few free places may wait for more, so that each claim is for many payloads.
  static let gathering = Duration.milliseconds(20)
  /// The maximum total length of the held lines, in bytes.
  static let maximumBytes = 32_000_000
  /// The maximum number of settled payloads that wait for the queue.
  static let maximumSettled = 4_096

  let jobs: Int
  /// How long nothing is claimed after the machine failed.
  let pause: Duration
  /// The maximum number of undecided payloads: usually ``jobs``. After a pause it is one, plus one
  /// for each settled payload, so that few fetches are wasted.
  private(set) var places: Int
  /// Why the machine keeps the worker from working; nil when it does not.
  private(set) var fault: MachineFault?
  /// Decides which pauses are reported.
  var pauses = PauseLedger()
  private var pausedUntil: MonotonicInstant?
  var leases = HeldLeases()
  /// Held payloads without a decision.
  private(set) var undecided = 0
  private var settled: [Settlement] = []
  private var lastClaim = MonotonicInstant.distantPast
  /// Whether the last claim found no payload without a result.
  private var isEmpty = false
  /// Whether there may be new payloads since the last claim began.
  private var hasNews = false
  /// The operator's pause at the last claim.
  private var queuePause: QueuePause?
  private var notice: WorkerNotice?
  private var isStopped = false
  private var isCancelled = false
  private(set) var isOnce: Bool
  private(set) var failure: QueueError?
  /// Whether a stopped worker left results because the machine failed.
  private(set) var leavesWork = false

  init(jobs: Int, isOnce: Bool, pause: Duration = WorkerConfiguration.pause) {
    (self.jobs, self.pause) = (jobs, pause)
    places = jobs
    self.isOnce = isOnce
  }

  /// Whether nothing more is claimed.
  var isEnding: Bool { isStopped || failure != nil }
  /// Whether cancelled payloads are given back.
  var returnsCancelled: Bool { isCancelled || failure != nil }

  // MARK: - Claiming

  /// Returns the next step.
  ///
  /// - Parameter limit: how many payloads the converters permit to be undecided at the moment.
  func step(at now: MonotonicInstant, limit: Int = .max) -> Step {
    if isEnding { return leases.count == 0 ? .end : .wait(until: .distantFuture) }
    if isOnce, isEmpty, leases.count == 0 { return .end }
    if let pausedUntil { return now < pausedUntil ? .wait(until: pausedUntil) : .probe }
    switch leases.turn(at: now) {
    case .wait(let instant): return .wait(until: instant)
    case .suspect: return .claim(limit: 1, bytes: .max, isAlone: true)
    case .others: break
    }
    let places = min(places, limit)
    let free = places - undecided
    guard free > 0, leases.bytes < Self.maximumBytes, settled.count < Self.maximumSettled else { return .wait(until: .distantFuture) }
    let gathered = lastClaim.advanced(by: Self.gathering)
    if free < max(1, places / 4), now < gathered { return .wait(until: gathered) }
    return .claim(limit: free, bytes: Self.maximumBytes - leases.bytes, isAlone: false)
  }

  /// Records the start of a claim, which may not include payloads that are enqueued from now on.
  mutating func beginClaim() { hasNews = false }

  /// Records a claim.
  ///
  /// - Parameter leased: when the claim was made, by the queue's clock.
  mutating func note(_ claim: Claim, isAlone: Bool, at now: MonotonicInstant, leased: Duration) {
    lastClaim = now
    leases.note(
      claim.leases.map { ($0.token, $0.line?.count ?? 0) }, hasSuspects: claim.hasSuspects, next: claim.next, isAlone: isAlone, at: now,
      leased: leased)
    undecided += claim.leases.count
    if claim.leases.isEmpty { noteNothingToTry() }
    isEmpty = claim.next == nil
    if (claim.pause == nil) != (queuePause == nil) { notice = .queuePaused(claim.pause) }
    queuePause = claim.pause
    if hasNews { lookAgain() }
  }

  /// Returns the message about the operator's pause since the last call.
  mutating func takeNotice() -> WorkerNotice? {
    defer { notice = nil }
    return notice
  }

  /// Records that there may be new payloads to claim.
  mutating func lookAgain() {
    leases.lookAgain()
    isEmpty = false
    hasNews = true
  }

  /// Ends the run when every payload has a result.
  mutating func endWhenDone() {
    isOnce = true
    lookAgain()
  }

  mutating func stop() { isStopped = true }

  mutating func cancel() { (isStopped, isCancelled) = (true, true) }

  /// Records an error of the queue. A stopped worker does not wait for the machine: it leaves its
  /// payloads to the next worker.
  mutating func fail(_ error: QueueError) {
    if isStopped, MachineFault(error) != nil { leavesWork = true } else { failure = failure ?? error }
  }

  // MARK: - Pausing

  /// Records a failure of the machine: nothing is claimed for a while.
  mutating func pause(_ fault: MachineFault, at now: MonotonicInstant) {
    self.fault = fault
    pausedUntil = now.advanced(by: pause)
    places = 1
    lookAgain()
  }

  /// Records that the store accepts files again, so that a payload is tried.
  mutating func endPause() { pausedUntil = nil }

  /// Ends the fault when the queue has no payload for this worker, for example because another
  /// worker has processed it. No payload is left that could prove that the fault is over.
  private mutating func noteNothingToTry() {
    guard fault != nil, pausedUntil == nil else { return }
    fault = nil
    places = jobs
  }

  /// Records that payloads were settled without a failure of the machine.
  private mutating func noteProgress(_ count: Int) {
    guard count > 0, pausedUntil == nil else { return }
    fault = nil
    places = min(jobs, places + count)
  }

  // MARK: - Settling

  /// Adds a decided payload.
  mutating func settle(_ settlement: Settlement) {
    undecided -= 1
    settled.append(settlement)
  }

  /// Removes and returns settled payloads for the queue, up to a limit.
  mutating func takeSettled(_ limit: Int) -> [Settlement] {
    guard settled.count > limit else {
      defer { settled.removeAll(keepingCapacity: true) }
      return settled
    }
    defer { settled.removeFirst(limit) }
    return Array(settled.prefix(limit))
  }

  /// Records that the queue has accepted or refused these payloads.
  ///
  /// - Parameter fault: the failure of the machine that one of them met.
  mutating func release(_ settlements: [Settlement], fault: MachineFault? = nil, at now: MonotonicInstant) {
    if let fault { pause(fault, at: now) } else { noteProgress(settlements.count) }
    for settlement in settlements { leases.release(settlement.lease.token) }
  }
}

/// A payload that a worker has decided.
struct Settlement: Sendable {
  var lease: Lease
  var decision: Decision
  /// The time from its start to the decision.
  var elapsed = Duration.zero
  /// The latest time to hand the payload to the queue.
  var deadline: MonotonicInstant
}
