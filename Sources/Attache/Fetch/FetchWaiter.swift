internal import Synchronization

/// One who waits for a fetch: with a deadline, a record and a completion of its own, whoever else
/// waits for the same URL.
///
/// `@unchecked Sendable`: `fetch` is touched on the loop only, `deadline` and `seat` under the lock
/// of the fetch's tracker, `request` under that of the fetcher's link; the rest is constant or
/// locked.
final class FetchWaiter: @unchecked Sendable {
  typealias Completion = @Sendable (Result<StoredFile, FetchFailure>, MediaRecord) -> Void

  typealias Service = (fetcher: any FetchService, onLeave: @Sendable () -> Void)

  private struct State {
    var completion: Completion?
    /// Who fetches for it, and what is called once when that one serves it no more.
    var service: Service?
    var record: MediaRecord
    var source: (any FetchProgressSource)?
    /// Of the URL that was asked for.
    var host = ""
  }

  var deadline: MonotonicInstant
  private let machine: any Machine
  private let start: MonotonicInstant
  private let state: Mutex<State>

  /// What it waits for.
  var fetch: Fetch?
  /// Its place among those who wait.
  var seat = 0
  /// The request to a fetcher's process that it waits for; 0 for none.
  var request: UInt64 = 0
  /// Where another process is told how far the fetch is.
  let trace: FetchTrace?

  init(
    url: UntrustedText, deadline: MonotonicInstant, machine: any Machine, trace: FetchTrace? = nil, completion: @escaping Completion
  ) {
    (self.deadline, self.trace) = (deadline, trace)
    self.machine = machine
    start = machine.now
    state = Mutex(State(completion: completion, record: MediaRecord(url: url)))
  }

  /// Notes what is true of this one alone.
  func note(_ change: (inout MediaRecord) -> Void) {
    state.withLock { change(&$0.record) }
  }

  /// Has the record follow a fetch.
  func follow(_ source: any FetchProgressSource) {
    state.withLock { $0.source = source }
  }

  /// The record as it stands, with the time since the start.
  func record(ending reason: Reason?) -> MediaRecord {
    let now = machine.now
    let total = start.duration(to: now)
    return state.withLock { state in
      state.source?.progress.report(to: &state.record, at: now)
      state.record.reason = reason ?? state.record.reason
      state.record.timing.total = total
      return state.record
    }
  }

  /// What the fetch waits for, or waited for last, in words; nil for one that never waited.
  var awaited: String? {
    state.withLock { state in state.source?.progress.awaited?.words(host: state.host) }
  }

  /// Whether the completion is still to be called.
  var isOpen: Bool {
    state.withLock { $0.completion != nil }
  }

  /// Notes who fetches for it.
  ///
  /// - Parameters:
  ///   - host: of the URL.
  ///   - onLeave: called once, when the fetcher no longer serves it: before the completion, or
  ///     after ``close()``, by its caller.
  func go(to fetcher: any FetchService, host: String, onLeave: @escaping @Sendable () -> Void) {
    state.withLock { ($0.service, $0.host) = ((fetcher, onLeave), host) }
  }

  /// Has the completion called no more.
  ///
  /// - Returns: who serves it, whom it is to leave; nil when the completion has been called, or
  ///   will be at once.
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

extension FetchProgress.Awaited {
  /// What it is, for a message.
  ///
  /// - Parameter host: of the URL that was asked for.
  fileprivate func words(host: String) -> String {
    switch self {
    case .origin(let places, let isRedirected):
      "one of \(places) connections to \(isRedirected ? "the host that \(host) redirects to" : host) (--per-host)"
    case .any(let places):
      "one of \(places) connections, as many as \(ConnectionBudget.current(engines: 1).descriptors) descriptors allow (ulimit -n)"
    }
  }
}

/// One of those that fetch: a loop on a thread of this process, or a process of its own. Safe from
/// any thread.
protocol FetchService: AnyObject, Sendable {
  /// Fetches for one who waits.
  func fetch(_ url: CheckedURL, for waiter: FetchWaiter)
  /// Lets one go who waits no more.
  ///
  /// - Parameter done: called once he is out: a fetcher that hangs counts as loaded until then.
  func leave(_ waiter: FetchWaiter, done: @escaping @Sendable () -> Void)
  /// Says how its origins stand, which also says that its loop turns.
  func countOrigins(_ answer: @escaping @Sendable (BreakerStates) -> Void)
  /// Has the HTTP cache write what is still to be written.
  ///
  /// - Parameter done: called once, with what the user should know of the cache.
  func closeCache(_ done: @escaping @Sendable (_ warning: String?) -> Void)
  /// Ends everything, without an answer.
  func shutdown()
}
