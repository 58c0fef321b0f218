internal import Attache
internal import Synchronization

/// Hands what was decided to the queue: results with their attachments made sure of, and payloads that are tried again later. One thread runs it.
final class WorkerSettler: Sendable {
  private struct Desk {
    var isAsleep = false
    var isFinished = false
  }

  /// Payloads that are handed to the queue together.
  private static let group = 512

  let observer: any WorkerObserver
  private let queue: any PayloadQueue
  private let judge: SettlementJudge
  private let clock: any DeadlineClock
  private let desk = Mutex(Desk())
  private let alarm: any Bell
  private let figures = Mutex(WorkerResult())
  private let explainer: Explainer

  init(
    _ configuration: WorkerConfiguration, queue: any PayloadQueue, store: AttachmentStore, clock: any DeadlineClock,
    queueClock: any QueueClock, observer: any WorkerObserver, explain: @escaping @Sendable (Explanation) -> Void
  ) throws(SystemError) {
    self.queue = queue
    self.clock = clock
    self.observer = observer
    judge = SettlementJudge(configuration, store: store, clock: clock, queueClock: queueClock)
    explainer = try Explainer(machine: clock.machineBehind, showing: configuration.filter.urlDetail, tell: explain)
    alarm = try clock.machineBehind.makeBell()
  }

  /// What became of the payloads.
  var result: WorkerResult {
    figures.withLock { $0 }
  }

  /// Says that something was decided. Safe from any thread.
  func wake() {
    let isAsleep = desk.withLock { desk in
      defer { desk.isAsleep = false }
      return desk.isAsleep
    }
    if isAsleep { alarm.ring() }
  }

  /// Nothing more will be decided.
  func finish() {
    desk.withLock { $0.isFinished = true }
    alarm.ring()
  }

  /// Settles until it is told to finish.
  ///
  /// - Parameters:
  ///   - take: gives what was decided, at most so many.
  ///   - isCancelled: whether what was cancelled is given back.
  ///   - settled: is told what the queue has taken, or why it has not: nothing is handed to it after that.
  func run(
    take: (Int) -> [Settlement], isCancelled: () -> Bool, settled: ([Settlement], QueueError?) -> Void
  ) {
    var failure: QueueError?
    // When what was written is to be on disk.
    var syncBy: MonotonicInstant?
    while true {
      let isFinished = prepareToSleep()
      let batch = take(Self.group)
      do throws(QueueError) {
        if failure == nil { syncBy = try settle(batch, isCancelled: isCancelled(), isLast: isFinished && batch.isEmpty, syncBy: syncBy) }
      } catch {
        failure = error
        syncBy = nil
      }
      for settlement in batch { settlement.payload.letGo() }
      if !batch.isEmpty || failure != nil { settled(batch, failure) }
      guard batch.isEmpty else { continue }
      guard !isFinished else { return explainer.finish() }
      alarm.wait(until: syncBy)
    }
  }

  /// From now on whoever settles rings.
  ///
  /// - Returns: whether nothing more will come.
  private func prepareToSleep() -> Bool {
    desk.withLock { desk in
      desk.isAsleep = !desk.isFinished
      return desk.isFinished
    }
  }

  /// Hands a group to the queue, and has the queue sync when that is due.
  ///
  /// - Returns: when what was written is to be on disk; nil when it is.
  private func settle(_ group: [Settlement], isCancelled: Bool, isLast: Bool, syncBy: MonotonicInstant?) throws(QueueError)
    -> MonotonicInstant?
  {
    if !group.isEmpty { try settle(group, isCancelled: isCancelled) }
    let now = clock.now
    let due = group.isEmpty ? syncBy : syncBy ?? now.advanced(by: SyncChoice.groupWindow)
    guard let due, isLast || due <= now else { return due }
    try queue.sync()
    return nil
  }

  // MARK: - One group

  private func settle(_ group: [Settlement], isCancelled: Bool) throws(QueueError) {
    let lock = judge.lockHolds(for: group)
    defer { withExtendedLifetime(lock) {} }
    let handed = clock.now
    let fates = judge.fates(of: group, isCancelled: isCancelled, handedAt: handed)
    let results = fates.compactMap(\.result)
    let returns = fates.compactMap(\.returned)
    var refused = results.isEmpty ? [] : try queue.finish(results)
    if !returns.isEmpty { refused.formUnion(try queue.giveBack(returns)) }
    for fate in fates { note(fate, isRefused: refused.contains(fate.settlement.lease.token), handedAt: handed) }
  }

  /// Tells about a payload that the queue has taken, or refused.
  private func note(_ fate: SettledFate, isRefused: Bool, handedAt handed: MonotonicInstant) {
    let (payload, lateness) = (fate.settlement.payload, fate.settlement.deadline.duration(to: handed))
    guard !isRefused else {
      figures.withLock { $0.refused += 1 }
      return observer.refused()
    }
    guard fate.result != nil else {
      figures.withLock { $0.postponed += 1 }
      return observer.postponed(payload.reason)
    }
    figures.withLock { result in
      result.summary.count(payload.outcome, payload.reason)
      if lateness > .zero { result.summary.lateLines += 1 }
    }
    observer.finished(payload.outcome, payload.reason, lateness: lateness, media: payload.media)
    if payload.outcome != .invalid, let reason = payload.reason {
      explainer.add(reason, of: Int(fate.settlement.lease.token.id), payload.media, why: payload.why)
    }
  }
}
