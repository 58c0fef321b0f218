internal import Attache

/// What becomes of a payload that a worker has done with.
struct SettledFate: Sendable {
  var settlement: Settlement
  /// Its result; nil when it is given back.
  var result: FinishedPayload?
  var returned: ReturnedPayload?
}

/// Says which payloads have their result and which are given back, once it has made sure of their attachments.
struct SettlementJudge: Sendable {
  private let configuration: WorkerConfiguration
  private let store: AttachmentStore
  private let queueClock: any QueueClock
  private let machine: any Machine
  private let schedule: RetrySchedule

  init(_ configuration: WorkerConfiguration, store: AttachmentStore, clock: any DeadlineClock, queueClock: any QueueClock) {
    self.configuration = configuration
    self.store = store
    self.queueClock = queueClock
    machine = clock.machineBehind
    schedule = RetrySchedule(attempts: configuration.attempts)
  }

  /// - Parameters:
  ///   - isCancelled: whether what was cancelled is given back as if it had not been tried.
  ///   - handed: when the group is handed to the queue.
  func fates(of group: [Settlement], isCancelled: Bool, handedAt handed: MonotonicInstant) -> [SettledFate] {
    let refusal = configuration.sync == .off ? nil : failure { () throws(StoreError) in try store.sync(group.flatMap(\.payload.files)) }
    return group.map { settlement in
      var fate = SettledFate(settlement: settlement)
      let holds = secure(&fate.settlement.payload, refusal)
      if let returned = returned(fate.settlement, isCancelled: isCancelled) {
        fate.returned = returned
      } else {
        fate.result = result(fate.settlement, holds, handedAt: handed)
      }
      return fate
    }
  }

  /// Keeps the attachments from being pruned before the result is read; a payload whose attachments the store refuses falls back.
  ///
  /// - Parameter refusal: why the attachments are not on disk, if they are not.
  private func secure(_ payload: inout DecidedPayload, _ refusal: StoreError?) -> [String] {
    guard !payload.files.isEmpty else { return [] }
    var holds: [String] = []
    let (files, name) = (payload.files, configuration.queueName)
    if let refusal = refusal ?? failure({ () throws(StoreError) in holds = try store.hold(files, for: name) }) {
      payload.fallBack(refusal.reason)
      return []
    }
    return holds
  }

  private func failure(_ body: () throws(StoreError) -> Void) -> StoreError? {
    do throws(StoreError) {
      try body()
      return nil
    } catch {
      return error
    }
  }

  /// How a payload is given back; nil when it has its result.
  private func returned(_ settlement: Settlement, isCancelled: Bool) -> ReturnedPayload? {
    let (lease, payload) = (settlement.lease, settlement.payload)
    if isCancelled, payload.reason == .cancelled { return ReturnedPayload(lease.token, wasTried: false) }
    guard payload.mayPass else { return nil }
    let remaining = lease.expiresAt.map { $0 - queueClock.wall }
    return schedule.delay(after: lease.attempt, remaining: remaining, jitter: machine.randomFraction).map {
      ReturnedPayload(lease.token, after: $0, wasTried: true)
    }
  }

  private func result(_ settlement: Settlement, _ holds: [String], handedAt handed: MonotonicInstant) -> FinishedPayload {
    let (token, payload) = (settlement.lease.token, settlement.payload)
    let lateness = settlement.deadline.duration(to: handed)
    return FinishedPayload(
      token, output: payload.output, outcome: payload.outcome, reason: payload.reason, isDead: payload.reason == .queuePoison,
      record: payload.record(line: Int(token.id), lateness: lateness, showing: configuration.filter.urlDetail), holds: holds)
  }
}
