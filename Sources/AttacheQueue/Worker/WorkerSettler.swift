internal import Attache
internal import Synchronization

/// Stores decisions in the queue: results, after their attachments are secured, and payloads that
/// are retried later. One thread runs it.
final class WorkerSettler: Sendable {
  /// The settler's calls to its worker.
  struct Owner {
    /// Returns decided payloads, up to a limit.
    var take: (Int) -> [Settlement]
    /// Whether to give cancelled payloads back.
    var isCancelled: () -> Bool
    /// Whether the worker claims nothing more.
    var isStopped: () -> Bool
    /// Called when the machine fails, for example because the queue's disk is full. The settler
    /// asks the queue again after a pause.
    var paused: (MachineFault) -> Void
    /// Called with a group that the queue has accepted, or with the error of the queue. After an
    /// error, nothing more is handed to the queue.
    var settled: (SettledGroup) -> Void
  }

  /// The maximum number of payloads that are handed to the queue together.
  private static let group = 512

  let observer: any WorkerObserver
  private let queue: any PayloadLeasing & HoldListing
  private let judge: SettlementJudge
  private let pause: Duration
  private let clock: MonotonicClock
  /// Whether no more decisions will follow.
  private let isFinished: Mailbox<Bool>
  private let alarm: any WakeSignal
  private let figures = Mutex(WorkerResult())
  private let explainer: Explainer
  private let notify: @Sendable (WorkerNotice) -> Void

  init(
    _ configuration: WorkerConfiguration, queue: any PayloadLeasing & HoldListing, store: AttachmentStore, clock: MonotonicClock,
    queueClock: any QueueClock, observer: any WorkerObserver, notify: @escaping @Sendable (WorkerNotice) -> Void
  ) throws(SystemError) {
    self.queue = queue
    self.clock = clock
    self.observer = observer
    judge = SettlementJudge(configuration, store: store, clock: clock, queueClock: queueClock)
    self.notify = notify
    pause = configuration.pause
    explainer = try Explainer(machine: clock.machine, showing: configuration.filter.urlDetail) {
      [name = configuration.keepsQueue ? configuration.queue.description : nil] in
      notify(WorkerNotice($0, queue: name))
    }
    let alarm = try clock.machine.makeWakeSignal()
    self.alarm = alarm
    isFinished = Mailbox(false) { alarm.ring() }
  }

  /// The counts of the settled payloads.
  var result: WorkerResult {
    figures.withLock { $0 }
  }

  /// Wakes the settler after a decision. Safe from any thread.
  func wake() {
    isFinished.change { _ in }
  }

  /// Ends a wait for the machine. Safe from any thread.
  func interrupt() { alarm.ring() }

  /// Reports a message on the explainer's thread. Never waits.
  func say(_ notice: WorkerNotice) {
    explainer.perform { [notify] in notify(notice) }
  }

  /// Records that no more decisions will follow.
  func finish() {
    isFinished.change { $0 = true }
    // The settler may be waiting for the machine.
    interrupt()
  }

  /// Settles until ``finish()``.
  func run(_ owner: Owner) {
    judge.removeUnlistedHolds(queue)
    var failure: QueueError?
    // When written results must be on disk.
    var syncBy: MonotonicInstant?
    while true {
      // From here on, the next decision gives the signal.
      let isFinished = isFinished.take { ($0, sleeps: !$0) }
      var group = SettledGroup(settlements: owner.take(Self.group))
      do throws(QueueError) {
        if failure == nil { (syncBy, group.fault) = try settle(group.settlements, owner, isLast: isFinished, syncBy: syncBy) }
      } catch {
        failure = error
        syncBy = nil
      }
      for settlement in group.settlements { settlement.decision.onRelease?() }
      group.failure = failure
      if !group.settlements.isEmpty || failure != nil { owner.settled(group) }
      guard group.settlements.isEmpty else { continue }
      guard !isFinished else { return explainer.finish() }
      alarm.wait(until: syncBy)
    }
  }

  /// Hands a group to the queue, and syncs the queue when that is due. Repeats the calls while the
  /// machine fails.
  ///
  /// - Returns: when written results must be on disk, nil when they are; and the failure of the
  ///   machine that a payload met.
  private func settle(_ group: [Settlement], _ owner: Owner, isLast: Bool, syncBy: MonotonicInstant?) throws(QueueError)
    -> (syncBy: MonotonicInstant?, fault: MachineFault?)
  {
    var (rest, met) = (group, nil as MachineFault?)
    var hasPaused = false
    // The pause may have used up the signal of a decision, so the next wait must not begin.
    defer { if hasPaused { alarm.ring() } }
    while true {
      do throws(QueueError) {
        if !rest.isEmpty { met = try settle(&rest, isCancelled: owner.isCancelled()) ?? met }
        let now = clock.now
        let due = group.isEmpty ? syncBy : syncBy ?? now.advanced(by: SyncChoice.groupWindow)
        guard let due, isLast && group.isEmpty || due <= now else { return (due, met) }
        try queue.sync()
        return (nil, met)
      } catch {
        guard let fault = MachineFault(error), !owner.isStopped() else { throw error }
        owner.paused(fault)
        hasPaused = true
        alarm.wait(until: clock.now.advanced(by: pause))
      }
    }
  }

  // MARK: - One group

  /// Hands a group to the queue, and removes from it what the queue has accepted.
  ///
  /// - Returns: the failure of the machine that a payload met.
  private func settle(_ group: inout [Settlement], isCancelled: Bool) throws(QueueError) -> MachineFault? {
    let lock = try judge.lockHolds(for: group)
    defer { withExtendedLifetime(lock) {} }
    let handed = clock.now
    let dispositions = judge.dispositions(of: group, isCancelled: isCancelled, handedAt: handed)
    let finished = dispositions.filter { $0.result != nil }
    if !finished.isEmpty {
      let refused = try queue.finish(finished.compactMap(\.result))
      note(finished, refused, handedAt: handed)
      let taken = Set(finished.map(\.settlement.lease.token))
      group.removeAll { taken.contains($0.lease.token) }
    }
    let returned = dispositions.filter { $0.returned != nil }
    if !returned.isEmpty { note(returned, try queue.giveBack(returned.compactMap(\.returned)), handedAt: handed) }
    group = []
    return dispositions.compactMap(\.fault).first
  }

  private func note(_ dispositions: [Disposition], _ refused: Set<LeaseToken>, handedAt handed: MonotonicInstant) {
    for disposition in dispositions { note(disposition, isRefused: refused.contains(disposition.settlement.lease.token), handedAt: handed) }
  }

  /// Reports a payload that the queue has accepted, or refused.
  private func note(_ disposition: Disposition, isRefused: Bool, handedAt handed: MonotonicInstant) {
    let (decision, lateness) = (disposition.settlement.decision, disposition.settlement.deadline.duration(to: handed))
    guard !isRefused else {
      figures.withLock { $0.refused += 1 }
      return observer.refused()
    }
    guard disposition.result != nil else {
      figures.withLock { $0.postponed += 1 }
      // A wait may last, so it is explained like a result.
      if decision.breakerWait != nil { explain(disposition) }
      return observer.postponed(decision.reason)
    }
    figures.withLock { result in
      result.summary.count(decision.outcome, decision.reason, status: decision.media.status(for: decision.reason))
      if lateness > .zero { result.summary.lateLines += 1 }
    }
    observer.finished(decision.outcome, decision.reason, lateness: lateness, media: decision.media)
    explain(disposition)
  }

  private func explain(_ disposition: Disposition) {
    let decision = disposition.settlement.decision
    let line = Int(disposition.settlement.lease.token.id)
    if let reason = decision.reason ?? decision.media.missing(from: decision.outcome) {
      explainer.add(reason, of: line, decision.media, decision.reason == nil ? nil : decision.cause)
    }
    // A message of a list that cannot be opened, although others of the list are attached.
    if decision.reason == nil, let cause = decision.cause { explainer.add(.payloadEnvelope, of: line, [], cause) }
  }
}

/// A group that was handed to the queue.
struct SettledGroup: Sendable {
  var settlements: [Settlement]
  /// Why the queue refuses everything from now on.
  var failure: QueueError?
  /// The failure of the machine that a payload met. The payload was given back.
  var fault: MachineFault?
}
