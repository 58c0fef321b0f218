internal import Attache

/// What becomes of a payload that a worker has decided.
struct Disposition: Sendable {
  var settlement: Settlement
  /// The payload's result; nil when it is given back.
  var result: FinishedPayload?
  var returned: ReturnedPayload?
  /// The failure of the machine that is the reason for giving it back.
  var fault: MachineFault?
}

/// Secures the attachments of payloads, and decides which payloads have their result and which are
/// given back.
struct SettlementJudge: Sendable {
  private let configuration: WorkerConfiguration
  private let store: AttachmentStore
  /// The queue, as the store knows it; nil when the store holds nothing for it.
  private let owner: HoldOwner?
  private let queueClock: any QueueClock
  private let machine: any Machine
  private let schedule: RetrySchedule

  init(
    _ configuration: WorkerConfiguration, store: AttachmentStore, clock: MonotonicClock, queueClock: any QueueClock
  ) {
    self.configuration = configuration
    self.store = store
    owner = configuration.holdsFiles ? configuration.queue.holdOwner : nil
    self.queueClock = queueClock
    machine = clock.machine
    schedule = RetrySchedule(attempts: configuration.attempts)
  }

  /// Removes holds that no result in the queue uses, which killed workers left in the store.
  /// Ignores errors: a later call removes the rest.
  func removeUnlistedHolds(_ queue: any HoldListing) {
    guard let owner = configuration.queue.holdOwner else { return }
    _ = try? ReleasedHolds(of: queue, in: store.holdsFolder(of: owner)).removeUnlisted(of: configuration.queue)
  }

  /// Locks the queue's holds against removal. The caller keeps the lock from before a group is
  /// judged until the queue has its results. Returns nil when the group has nothing to hold, or the
  /// store fails, which ``dispositions(of:isCancelled:handedAt:)`` finds too.
  ///
  /// - Throws: ``QueueError/locked(_:)`` when another process holds the lock for too long.
  func lockHolds(for group: [Settlement]) throws(QueueError) -> (any Sendable)? {
    guard let owner, group.contains(where: { !$0.decision.files.isEmpty }) else { return nil }
    do throws(StoreError) {
      return try store.lockHolds(of: owner)
    } catch {
      if case .locked = error { throw .locked("\(error)") }
      return nil
    }
  }

  /// - Parameters:
  ///   - isCancelled: whether to give cancelled payloads back without counting an attempt.
  ///   - handed: when the group is handed to the queue.
  func dispositions(of group: [Settlement], isCancelled: Bool, handedAt handed: MonotonicInstant) -> [Disposition] {
    let holds = owner.map { hold(Set(group.flatMap(\.decision.files)), for: $0) } ?? [:]
    return group.map { settlement in
      var disposition = Disposition(settlement: settlement)
      let paths = secure(&disposition, holds)
      if disposition.fault != nil {
        disposition.returned = ReturnedPayload(settlement.lease.token, wasTried: false)
      } else if let returned = returned(disposition.settlement, isCancelled: isCancelled) {
        disposition.returned = returned
      } else {
        disposition.result = result(disposition.settlement, paths, handedAt: handed)
      }
      return disposition
    }
  }

  /// Holds attachments so that they are not pruned before the results are read, and waits until
  /// files and holds are on disk. So a power failure leaves no result without its file. Each file
  /// is held once, however many payloads use it.
  private func hold(_ files: Set<StoredFile>, for owner: HoldOwner) -> [StoredFile: Result<[String], StoreError>] {
    var holds: [StoredFile: Result<[String], StoreError>] = [:]
    for file in files { holds[file] = Result { () throws(StoreError) in try store.hold([file], for: owner) } }
    guard configuration.sync != .off, !files.isEmpty else { return holds }
    do throws(StoreError) {
      try store.sync(files.filter { if case .success? = holds[$0] { true } else { false } })
      return holds
    } catch {
      return holds.mapValues { _ in .failure(error) }
    }
  }

  /// Returns the holds of a payload. A payload whose attachments the store refuses falls back, or
  /// waits until the machine is repaired.
  private func secure(_ disposition: inout Disposition, _ holds: [StoredFile: Result<[String], StoreError>]) -> [String] {
    disposition.fault = disposition.settlement.decision.machineFault
    var paths: [String] = []
    for file in disposition.settlement.decision.files {
      switch holds[file] {
      case .success(let held): paths += held.filter { !paths.contains($0) }
      case .failure(let refusal):
        disposition.fault = MachineFault(refusal)
        disposition.settlement.decision.fallBack(refusal.reason)
        return []
      case nil: break
      }
    }
    return paths
  }

  /// Returns how a payload is given back; nil when it has its result.
  private func returned(_ settlement: Settlement, isCancelled: Bool) -> ReturnedPayload? {
    let (lease, decision) = (settlement.lease, settlement.decision)
    if isCancelled, decision.reason == .cancelled { return ReturnedPayload(lease.token, wasTried: false) }
    // The queue ends the wait at the latest when the payload expires.
    if let wait = decision.breakerWait { return ReturnedPayload(lease.token, after: wait, wasTried: false) }
    guard decision.isRetryable else { return nil }
    let remaining = lease.expiresAt.map { $0 - queueClock.wall }
    return schedule.delay(after: lease.attempt, remaining: remaining, jitter: machine.randomFraction).map {
      ReturnedPayload(lease.token, after: $0, wasTried: true, text: decision.reason?.rawValue)
    }
  }

  private func result(_ settlement: Settlement, _ holds: [String], handedAt handed: MonotonicInstant) -> FinishedPayload {
    let (lease, decision) = (settlement.lease, settlement.decision)
    let lateness = settlement.deadline.duration(to: handed)
    return FinishedPayload(
      lease.token, output: lease.line.flatMap(decision.output), outcome: decision.outcome, reason: decision.reason,
      isDead: decision.reason == .queuePoison,
      record: decision.record(line: Int(lease.token.id), elapsed: settlement.elapsed, lateness: lateness, configuration.filter),
      holds: holds)
  }
}
