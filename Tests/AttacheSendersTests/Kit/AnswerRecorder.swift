import AttacheQueue
import AttacheSenders
import Synchronization

/// The owner of a sender: sends payloads and waits for the answers.
final class AnswerRecorder: SenderOwner {
  private struct State {
    var answers: [Int64: [DeliveryAnswer]] = [:]
    var count = 0
    /// The payloads that were delivered at least once.
    var delivered: Set<Int64> = []
    var notices: [String] = []
    var restarts = 0
    var slowdowns = 0
    var waiters: [(condition: @Sendable (borrowing State) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    /// The deliveries by payload, for retries.
    var deliveries: [Int64: Delivery] = [:]
    weak var sender: (any Sender)?
  }

  private let state = Mutex(State())

  /// Sends retries immediately, until all are delivered.
  func sendAgain(_ deliveries: [Delivery], by sender: any Sender) {
    state.withLock { state in
      state.sender = sender
      for delivery in deliveries { state.deliveries[delivery.token.id] = delivery }
    }
    sender.send(deliveries)
  }

  func take(_ answers: [(token: LeaseToken, answer: DeliveryAnswer)]) {
    let (ready, again, sender) = state.withLock { state in
      var again: [Delivery] = []
      for (token, answer) in answers {
        state.answers[token.id, default: []].append(answer)
        state.count += 1
        switch answer {
        case .retry, .refused, .unanswered, .senderEnded: if let delivery = state.deliveries[token.id] { again.append(delivery) }
        case .delivered, .partlyDelivered: state.delivered.insert(token.id)
        case .dropped, .rejected: break
        }
      }
      return (Self.takeReady(&state), again, state.sender)
    }
    if !again.isEmpty { sender?.send(again) }
    for continuation in ready { continuation.resume() }
  }

  func notify(_ notice: String) {
    let ready = state.withLock { state in
      state.notices.append(notice)
      return Self.takeReady(&state)
    }
    for continuation in ready { continuation.resume() }
  }

  func slowDown() {
    state.withLock { $0.slowdowns += 1 }
  }

  func restarted() {
    state.withLock { $0.restarts += 1 }
  }

  private static func takeReady(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
    var ready: [CheckedContinuation<Void, Never>] = []
    var waiting: [(condition: @Sendable (borrowing State) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    for waiter in state.waiters {
      if waiter.condition(state) { ready.append(waiter.continuation) } else { waiting.append(waiter) }
    }
    state.waiters = waiting
    return ready
  }

  private func wait(until condition: @escaping @Sendable (borrowing State) -> Bool) async {
    await withCheckedContinuation { continuation in
      let goesOn = state.withLock { state in
        if condition(state) { return true }
        state.waiters.append((condition, continuation))
        return false
      }
      if goesOn { continuation.resume() }
    }
  }

  /// Returns after this many answers.
  func waitForAnswers(count: Int) async {
    await wait { $0.count >= count }
  }

  /// Returns when this many payloads were delivered.
  func waitForDelivered(count: Int) async {
    await wait { $0.delivered.count >= count }
  }

  func waitForNotices(count: Int) async {
    await wait { $0.notices.count >= count }
  }

  /// By payload.
  var answers: [Int64: [DeliveryAnswer]] { state.withLock { $0.answers } }
  var notices: [String] { state.withLock { $0.notices } }
  var slowdowns: Int { state.withLock { $0.slowdowns } }
  var restarts: Int { state.withLock { $0.restarts } }
}
