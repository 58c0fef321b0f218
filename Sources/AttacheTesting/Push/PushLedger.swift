internal import NIOCore
internal import Synchronization

/// The events of a server so far, and the waiters for further ones.
final class PushLedger: Sendable {
  struct State: Sendable {
    var requests: [PushServerRequest] = []
    /// The number of requests, by identifier.
    var attempts: [String: Int] = [:]
    var delivered: [String: Int] = [:]
    var requestCount = 0
    var accepted = 0
    var open: [Int: any Channel] = [:]
    /// The number of streams that are open now, by connection. `mostStreams` is the highest number
    /// on one connection at the same time.
    var openStreams: [Int: Int] = [:]
    var mostStreams = 0
    var held: [@Sendable () -> Void] = []
    var isReleased = false
    var isStopped = false
    fileprivate var waiters: [Int: Waiter] = [:]
    fileprivate var lastWaiter = 0
  }

  fileprivate struct Waiter: Sendable {
    let condition: @Sendable (State) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private let state = Mutex(State())

  /// Reads state under the lock.
  func read<Value: Sendable>(_ body: (State) -> Value) -> Value {
    state.withLock { body($0) }
  }

  /// Changes state under the lock and resumes the waiters whose condition now holds.
  @discardableResult
  func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
    let (value, ready) = state.withLock { state in
      let value = body(&state)
      let ready = state.waiters.filter { state.isStopped || $0.value.condition(state) }
      for key in ready.keys { state.waiters[key] = nil }
      return (value, ready.map(\.value))
    }
    for waiter in ready { waiter.continuation.resume() }
    return value
  }

  /// Returns when the condition holds or the server has stopped.
  func wait(until condition: @escaping @Sendable (State) -> Bool) async {
    await withCheckedContinuation { continuation in
      let goesOn = state.withLock { state in
        if state.isStopped || condition(state) { return true }
        state.lastWaiter += 1
        state.waiters[state.lastWaiter] = Waiter(condition: condition, continuation: continuation)
        return false
      }
      if goesOn { continuation.resume() }
    }
  }

  func opened(_ channel: any Channel) -> Int {
    change { state in
      state.accepted += 1
      state.open[state.accepted] = channel
      return state.accepted
    }
  }

  /// Records a request.
  ///
  /// - Returns: the number of requests with its identifier, including this one.
  func record(_ request: PushServerRequest, keepsRequests: Bool) -> Int {
    change { state in
      state.requestCount += 1
      let attempt = state.attempts[request.identifier, default: 0] + 1
      state.attempts[request.identifier] = attempt
      if keepsRequests {
        state.requests.append(request)
        state.requests[state.requests.count - 1].attempt = attempt
      }
      return attempt
    }
  }

  func streamOpened(on connection: Int) {
    change { state in
      state.openStreams[connection, default: 0] += 1
      state.mostStreams = max(state.mostStreams, state.openStreams[connection, default: 0])
    }
  }

  func streamClosed(on connection: Int) {
    change { $0.openStreams[connection, default: 1] -= 1 }
  }

  /// Stores an action to run at the release; runs it immediately if the release has already
  /// happened.
  func hold(_ body: @escaping @Sendable () -> Void) {
    let isReleased = change { state in
      if !state.isReleased { state.held.append(body) }
      return state.isReleased
    }
    if isReleased { body() }
  }
}
