internal import Attache

/// A worker's book: what it holds, what is settled and not yet in the queue, and what is to be done
/// next. It decides; ``QueueWorker`` acts.
struct WorkerState: Sendable {
  /// What the claiming thread does next.
  enum Step: Equatable {
    case claim(limit: Int, bytes: Int, isAlone: Bool)
    /// Nothing until something changes, or the instant has come.
    case wait(until: MonotonicInstant)
    /// The pause is over: whether the store takes files again.
    case probe
    case end
  }

  struct Held: Sendable {
    var bytes: Int
    /// When the lease was taken or renewed, by the queue's clock.
    var since: Duration
  }

  /// How often a queue is asked that had nothing to claim: what others enqueue, and whose holder
  /// has gone, is not told.
  static let poll = Duration.milliseconds(250)
  /// How long few free places may wait for more, so that claims are for many payloads.
  static let gathering = Duration.milliseconds(20)
  /// How long a suspect waits at most before everything else makes room for it.
  static let suspectPatience = Duration.seconds(5)
  /// Bytes of lines that a worker holds at a time.
  static let maximumBytes = 32_000_000
  /// Settled payloads that may wait for the queue to take them.
  static let maximumSettled = 4_096

  let jobs: Int
  /// How long nothing is claimed after the machine failed.
  let pause: Duration
  /// Payloads that may be undecided at a time: ``jobs``; after a pause one, and one more for each
  /// that is settled, so that few fetches are wasted.
  private(set) var places: Int
  /// Why the machine keeps the worker from working; nil when it does not.
  private(set) var fault: MachineFault?
  /// What was told of it.
  var pauses = PauseLedger()
  private var pausedUntil: MonotonicInstant?
  private(set) var held: [LeaseToken: Held] = [:]
  private(set) var heldBytes = 0
  /// Payloads whose decision has not come.
  private(set) var undecided = 0
  private var settled: [Settlement] = []
  private var lastClaim = MonotonicInstant.distantPast
  private var quietUntil = MonotonicInstant.distantPast
  private var suspectsSince: MonotonicInstant?
  private var wantsAlone = false
  private var holdsSuspect = false
  /// Whether the queue had no payload without a result when it was asked last.
  private var isEmpty = false
  /// Whether there may be something new since the last claim began.
  private var hasNews = false
  private(set) var isStopped = false
  private(set) var isCancelled = false
  private(set) var isOnce: Bool
  private(set) var failure: QueueError?
  /// Whether results were left because the machine failed a worker that is stopped.
  private(set) var leavesWork = false

  init(jobs: Int, isOnce: Bool, pause: Duration = WorkerConfiguration.pause) {
    (self.jobs, self.pause) = (jobs, pause)
    places = jobs
    self.isOnce = isOnce
  }

  // MARK: - Claiming

  func step(at now: MonotonicInstant) -> Step {
    if isStopped || failure != nil { return held.isEmpty ? .end : .wait(until: .distantFuture) }
    if isOnce, isEmpty, held.isEmpty { return .end }
    if let pausedUntil { return now < pausedUntil ? .wait(until: pausedUntil) : .probe }
    if holdsSuspect { return .wait(until: .distantFuture) }
    if wantsAlone { return held.isEmpty ? .claim(limit: 1, bytes: .max, isAlone: true) : .wait(until: .distantFuture) }
    if now < quietUntil { return .wait(until: quietUntil) }
    let free = places - undecided
    guard free > 0, heldBytes < Self.maximumBytes, settled.count < Self.maximumSettled else { return .wait(until: .distantFuture) }
    let gathered = lastClaim.advanced(by: Self.gathering)
    if free < max(1, places / 4), now < gathered { return .wait(until: gathered) }
    return .claim(limit: free, bytes: Self.maximumBytes - heldBytes, isAlone: false)
  }

  /// A claim begins: what is enqueued from now on, it may not see.
  mutating func beginClaim() { hasNews = false }

  /// Records what was claimed.
  ///
  /// - Parameter leased: when, by the queue's clock.
  mutating func note(_ claim: Claim, isAlone: Bool, at now: MonotonicInstant, leased: Duration) {
    lastClaim = now
    for lease in claim.leases {
      let bytes = lease.line?.count ?? 0
      held[lease.token] = Held(bytes: bytes, since: leased)
      heldBytes += bytes
    }
    undecided += claim.leases.count
    if claim.leases.isEmpty { noteNothingToTry() }
    holdsSuspect = isAlone && !claim.leases.isEmpty
    wantsAlone = wantsSuspect(claim, isAlone: isAlone, at: now)
    isEmpty = claim.next == nil
    let pause = min(claim.next ?? Self.poll, Self.poll)
    quietUntil = pause > .zero && !isAlone ? now.advanced(by: pause) : .distantPast
    if hasNews { lookAgain() }
  }

  /// Whether the next claim is for a suspect: when there is nothing else, or when it has waited for
  /// long.
  private mutating func wantsSuspect(_ claim: Claim, isAlone: Bool, at now: MonotonicInstant) -> Bool {
    guard claim.hasSuspects else {
      suspectsSince = nil
      return false
    }
    if isAlone { suspectsSince = now }
    let since = suspectsSince ?? now
    suspectsSince = since
    return claim.leases.isEmpty || since.duration(to: now) > Self.suspectPatience
  }

  /// There may be something new to claim.
  mutating func lookAgain() {
    quietUntil = .distantPast
    isEmpty = false
    hasNews = true
  }

  /// The run is to end when every payload has a result.
  mutating func endWhenDone() {
    isOnce = true
    lookAgain()
  }

  mutating func stop() { isStopped = true }

  mutating func cancel() { (isStopped, isCancelled) = (true, true) }

  /// The queue refuses. A worker that is stopped waits for no machine: it leaves what it holds to
  /// the next one.
  mutating func fail(_ error: QueueError) {
    if isStopped, MachineFault(error) != nil { leavesWork = true } else { failure = failure ?? error }
  }

  /// All leases, if the oldest was taken or renewed before a moment of the queue's clock.
  func renewals(before moment: Duration) -> [LeaseToken] {
    guard let oldest = held.values.map(\.since).min(), oldest < moment else { return [] }
    return Array(held.keys)
  }

  /// The queue has renewed leases; those among them that are settled by now are not held any more.
  mutating func renewed(_ tokens: [LeaseToken], at now: Duration) {
    for token in tokens { held[token]?.since = now }
  }

  // MARK: - Pausing

  /// The machine failed: nothing is claimed for a while.
  mutating func pause(_ fault: MachineFault, at now: MonotonicInstant) {
    self.fault = fault
    pausedUntil = now.advanced(by: pause)
    places = 1
    lookAgain()
  }

  /// The store takes files again: a payload is tried.
  mutating func endPause() { pausedUntil = nil }

  /// The queue answered and has no payload for this worker, such as when another has worked it:
  /// none is left whose settling could end the fault.
  private mutating func noteNothingToTry() {
    guard fault != nil, pausedUntil == nil else { return }
    fault = nil
    places = jobs
  }

  /// Payloads were settled, and the machine failed none of them.
  private mutating func noteProgress(_ count: Int) {
    guard count > 0, pausedUntil == nil else { return }
    fault = nil
    places = min(jobs, places + count)
  }

  // MARK: - Settling

  /// Takes a decided payload.
  mutating func settle(_ settlement: Settlement) {
    undecided -= 1
    settled.append(settlement)
  }

  /// Takes out what is to go into the queue, at most so many.
  mutating func takeSettled(_ limit: Int) -> [Settlement] {
    guard settled.count > limit else {
      defer { settled.removeAll(keepingCapacity: true) }
      return settled
    }
    defer { settled.removeFirst(limit) }
    return Array(settled.prefix(limit))
  }

  /// The queue has taken these, or refused them.
  ///
  /// - Parameter fault: the machine's failure that one of them met.
  mutating func release(_ settlements: [Settlement], fault: MachineFault? = nil, at now: MonotonicInstant) {
    if let fault { pause(fault, at: now) } else { noteProgress(settlements.count) }
    for settlement in settlements { heldBytes -= held.removeValue(forKey: settlement.lease.token)?.bytes ?? 0 }
    if held.isEmpty { holdsSuspect = false }
  }
}

/// A payload that a worker has done with.
struct Settlement: Sendable {
  var lease: Lease
  var payload: DecidedPayload
  /// When it had to be handed to the queue.
  var deadline: MonotonicInstant
}
