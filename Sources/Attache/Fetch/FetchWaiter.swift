internal import Synchronization

/// One who waits for a fetch: with a deadline, a record and a completion of its own, whoever else waits for the same URL.
///
/// `@unchecked Sendable`: `fetch` is touched on the loop only, `seat` under the lock of the fetch's course; the rest is constant or locked.
final class FetchWaiter: @unchecked Sendable {
  typealias Completion = @Sendable (Result<StoredFile, FetchFailure>, MediaRecord) -> Void

  typealias Service = (engine: FetchEngine, onLeave: @Sendable () -> Void)

  private struct State {
    var completion: Completion?
    /// The engine that serves it, and what is called once when the engine serves it no more.
    var service: Service?
    var record: MediaRecord
    var course: FetchCourse?
  }

  let deadline: MonotonicInstant
  private let machine: any Machine
  private let start: MonotonicInstant
  private let state: Mutex<State>

  /// What it waits for.
  var fetch: Fetch?
  /// Its place among those who wait.
  var seat = 0

  init(url: UntrustedText, deadline: MonotonicInstant, machine: any Machine, completion: @escaping Completion) {
    self.deadline = deadline
    self.machine = machine
    start = machine.now
    state = Mutex(State(completion: completion, record: MediaRecord(url: url)))
  }

  /// Notes what is true of this one alone.
  func note(_ change: (inout MediaRecord) -> Void) {
    state.withLock { change(&$0.record) }
  }

  /// Has the record follow a fetch.
  func follow(_ course: FetchCourse) {
    state.withLock { $0.course = course }
  }

  /// The record as it stands, with the time since the start.
  func record(ending reason: Reason?) -> MediaRecord {
    let now = machine.now
    let total = start.duration(to: now)
    return state.withLock { state in
      state.course?.report(to: &state.record, at: now)
      state.record.reason = reason ?? state.record.reason
      state.record.timing.total = total
      return state.record
    }
  }

  /// Whether the completion is still to be called.
  var isOpen: Bool {
    state.withLock { $0.completion != nil }
  }

  /// Notes which engine serves it.
  ///
  /// - Parameter onLeave: called once, when the engine no longer serves it: before the completion, or after ``close()``, by its caller.
  func go(to engine: FetchEngine, onLeave: @escaping @Sendable () -> Void) {
    state.withLock { $0.service = (engine, onLeave) }
  }

  /// Has the completion called no more.
  ///
  /// - Returns: the engine that serves it, which it is to leave; nil when the completion has been called, or will be at once.
  func close() -> Service? {
    state.withLock { $0.completion.take() == nil ? nil : $0.service.take() }
  }

  /// Calls the completion, unless it was called or closed before.
  ///
  /// - Returns: whether it was called.
  @discardableResult
  func complete(_ result: Result<StoredFile, FetchFailure>) -> Bool {
    let taken = state.withLock { state in state.completion.take().map { ($0, state.service.take()) } }
    guard let (completion, service) = taken else { return false }
    service?.onLeave()
    if case .failure(let failure) = result {
      note { record in
        record.explanation = failure.message
        record.isOfMachine = failure.isOfMachine
      }
      completion(result, record(ending: failure.reason))
    } else {
      completion(result, record(ending: nil))
    }
    return true
  }
}
