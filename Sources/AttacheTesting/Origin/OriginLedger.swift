internal import Synchronization

/// The events of an origin so far, and the waiters for further ones.
final class OriginLedger: Sendable {
  struct State: Sendable {
    var requests: [RecordedRequest] = []
    var requestCounts: [String: Int] = [:]
    var accepted = 0
    var closed = 0
    var sentBytes: [String: Int] = [:]
    var stallCounts: [String: Int] = [:]
    var parked: [String: [Int: @Sendable () -> Void]] = [:]
    var released: Set<String> = []
    var isStopped = false
    fileprivate var waiters: [Int: Waiter] = [:]
    fileprivate var lastID = 0

    fileprivate mutating func nextID() -> Int {
      lastID += 1
      return lastID
    }

    /// Removes and returns the waiters whose event has occurred.
    fileprivate mutating func takeReady() -> [Waiter] {
      guard !waiters.isEmpty else { return [] }
      let ready = waiters.filter { isStopped || $0.value.condition(self) }
      ready.keys.forEach { waiters[$0] = nil }
      return Array(ready.values)
    }
  }

  fileprivate struct Waiter: Sendable {
    let condition: @Sendable (State) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private let state = Mutex(State())
  private let keepsRequests: Bool
  private let watch: (@Sendable (OriginEvent) -> Void)?

  init(keepsRequests: Bool, watch: (@Sendable (OriginEvent) -> Void)?) {
    self.keepsRequests = keepsRequests
    self.watch = watch
  }

  /// Reads state under the lock.
  func read<Value: Sendable>(_ body: (State) -> Value) -> Value {
    state.withLock { body($0) }
  }

  /// Returns when the condition holds, when the origin has stopped, or when the task is cancelled.
  func wait(until condition: @escaping @Sendable (State) -> Bool) async {
    let id = state.withLock { $0.nextID() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = state.withLock { state in
          if state.isStopped || Task.isCancelled || condition(state) { return true }
          state.waiters[id] = Waiter(condition: condition, continuation: continuation)
          return false
        }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
    }
  }

  func record(_ request: RecordedRequest) {
    change { state in
      state.requestCounts[request.path, default: 0] += 1
      state.requestCounts["", default: 0] += 1
      if keepsRequests { state.requests.append(request) }
    }
    note(.request(request))
  }

  /// Reports an event to the watcher.
  func note(_ event: OriginEvent) {
    watch?(event)
  }

  /// Records a new connection and returns its number.
  func opened() -> Int {
    let number = change { state in
      state.accepted += 1
      return state.accepted
    }
    note(.connection(number))
    return number
  }

  func closed() {
    change { $0.closed += 1 }
  }

  func sent(_ count: Int, path: String) {
    change { $0.sentBytes[path, default: 0] += count }
    note(.sent(path: path, bytes: count))
  }

  /// Stores an action to run when the path is released. If the path is already released, the action
  /// runs immediately. Returns the number to pass to `unpark`.
  func park(path: String, _ goOn: @escaping @Sendable () -> Void) -> Int {
    let (id, isReleased) = change { state in
      let id = state.nextID()
      state.stallCounts[path, default: 0] += 1
      let isReleased = state.released.contains(path)
      if !isReleased { state.parked[path, default: [:]][id] = goOn }
      return (id, isReleased)
    }
    note(.stalled(path: path))
    if isReleased { goOn() }
    return id
  }

  func unpark(_ id: Int, path: String) {
    change { $0.parked[path]?[id] = nil }
  }

  func release(path: String) {
    let parked = change { state in
      state.released.insert(path)
      return state.parked.removeValue(forKey: path) ?? [:]
    }
    parked.values.forEach { $0() }
  }

  func stop() {
    change { $0.isStopped = true }
  }

  private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    let (result, ready) = state.withLock { state in
      let result = body(&state)
      return (result, state.takeReady())
    }
    ready.forEach { $0.continuation.resume() }
    return result
  }
}
