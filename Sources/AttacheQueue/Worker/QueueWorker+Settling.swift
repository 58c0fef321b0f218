internal import Attache
internal import Synchronization

/// The settling thread stores decisions in the queue: results, after their attachments are secured,
/// and payloads that are retried later.
extension QueueWorker {
  /// The maximum number of payloads that are handed to the queue together.
  private static let group = 512

  /// Settles until no decisions will follow. After an error of the queue, nothing more is handed to
  /// it.
  func settle() {
    judge.removeUnlistedHolds(queue)
    var failure: QueueError?
    // When written results must be on disk.
    var syncBy: MonotonicInstant?
    while true {
      // From here on, the next decision gives the signal.
      let isLast = areAllDecided.take { ($0, sleeps: !$0) }
      let group = state.withLock { $0.takeSettled(Self.group) }
      var fault: MachineFault?
      do throws(QueueError) {
        if failure == nil { (syncBy, fault) = try settle(group, isLast: isLast, syncBy: syncBy) }
      } catch {
        failure = error
        syncBy = nil
      }
      for settlement in group { settlement.decision.onRelease?() }
      if !group.isEmpty || failure != nil { release(group, fault, failure) }
      guard group.isEmpty else { continue }
      guard !isLast else { return explainer.finish() }
      settling.wait(until: syncBy)
    }
  }

  /// Hands a group to the queue, and syncs the queue when that is due. Repeats the calls while the
  /// machine fails.
  ///
  /// - Returns: when written results must be on disk, nil when they are; and the failure of the
  ///   machine that a payload met.
  private func settle(_ group: [Settlement], isLast: Bool, syncBy: MonotonicInstant?) throws(QueueError)
    -> (syncBy: MonotonicInstant?, fault: MachineFault?)
  {
    var (rest, met) = (group, nil as MachineFault?)
    var hasPaused = false
    // The pause may have used up the signal of a decision, so the next wait must not begin.
    defer { if hasPaused { settling.ring() } }
    while true {
      do throws(QueueError) {
        if !rest.isEmpty { met = try settle(&rest) ?? met }
        let now = clock.now
        let due = group.isEmpty ? syncBy : syncBy ?? now.advanced(by: SyncChoice.groupWindow)
        guard let due, isLast && group.isEmpty || due <= now else { return (due, met) }
        try queue.sync()
        return (nil, met)
      } catch {
        guard let fault = MachineFault(error), !state.withLock(\.isEnding) else { throw error }
        pause(fault)
        hasPaused = true
        settling.wait(until: clock.now.advanced(by: pause))
      }
    }
  }

  /// Hands a group to the queue, and removes from it what the queue has accepted.
  ///
  /// - Returns: the failure of the machine that a payload met.
  private func settle(_ group: inout [Settlement]) throws(QueueError) -> MachineFault? {
    let lock = try judge.lockHolds(for: group)
    defer { withExtendedLifetime(lock) {} }
    let handed = clock.now
    let dispositions = judge.dispositions(of: group, isCancelled: state.withLock(\.returnsCancelled), handedAt: handed)
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
    let elapsed = disposition.settlement.elapsed
    observer.finished(decision.outcome, decision.reason, elapsed: elapsed, lateness: lateness, media: decision.media)
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
