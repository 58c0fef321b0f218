/// The state of a payload. Each payload has exactly one.
public enum PayloadState: String, CaseIterable, Sendable {
  /// It can be claimed by a worker, or can be once a worker looks.
  case ready
  /// It is not due yet, or waits for another attempt.
  case waiting
  /// A worker has it.
  case leased
  /// It has a result that is not delivered.
  case done
  /// Its result was delivered, or read.
  case delivered
  /// The sender refused its result.
  case dropped
  /// Its result expired before it was sent.
  case expired
  /// Its result was given up after many attempts.
  case timedOut = "timed-out"
  /// It was cancelled.
  case cancelled
  /// Workers ended while they had it, so that it was given up, or senders ended while they had its result.
  case dead

  /// The place in ``allCases``.
  package var index: Int {
    switch self {
    case .ready: 0
    case .waiting: 1
    case .leased: 2
    case .done: 3
    case .delivered: 4
    case .dropped: 5
    case .expired: 6
    case .timedOut: 7
    case .cancelled: 8
    case .dead: 9
    }
  }

  /// The states of payloads with a result.
  package static let decided = [done, delivered, dropped, expired, timedOut, cancelled, dead]

  /// The state after a delivery that ended, of a payload that is not dead.
  package init(_ status: DeliveryStatus) {
    self =
      switch status {
      case .delivered: .delivered
      case .dropped: .dropped
      case .expired: .expired
      case .timedOut: .timedOut
      case .cancelled: .cancelled
      case .poison: .dead
      }
  }
}

extension PayloadHistory {
  /// The payload's state.
  package var state: PayloadState {
    guard let result else { return work.flatMap { PayloadState(rawValue: $0.rawValue) } ?? .ready }
    if result.isDead { return .dead }
    if result.delivery != nil { return .done }
    return result.status.flatMap(DeliveryStatus.init).map(PayloadState.init) ?? .delivered
  }
}

extension PayloadHistory {
  /// Ends a wait whose time has come.
  ///
  /// - Parameter wall: the wall clock time since 1970.
  package mutating func endWait(at wall: Duration) {
    guard let dueAt, dueAt <= wall else { return }
    if work == .waiting { (work, self.dueAt) = (.ready, nil) }
    guard result?.delivery == .waiting else { return }
    result?.delivery = .ready
    self.dueAt = nil
  }
}
