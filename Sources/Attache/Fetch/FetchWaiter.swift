internal import Synchronization

/// A request that waits for a fetch, with its own deadline, record and completion. In the host,
/// several may share a request to a fetcher; a fetcher has one for each request.
///
/// `@unchecked Sendable`: `fetch` is used on the fetcher's loop only, and `request` under the lock
/// of the fetcher's link. `deadline` and `payloads` change only in a fetcher, on its loop. The rest
/// is constant or locked.
final class FetchWaiter: @unchecked Sendable {
  typealias Completion = @Sendable (Result<StoredFile, FetchFailure>, MediaRecord) -> Void

  /// Receives the time that a picture counts (``ConverterPace/turn(_:of:)``) once it is known that a
  /// conversion is needed.
  typealias ConversionListener = @Sendable (Duration) -> Void

  /// Ends the service of a fetcher: with the waiter if it was cancelled, so that the fetcher must remove
  /// it; otherwise before the completion.
  typealias EndOfService = @Sendable (_ cancelled: FetchWaiter?) -> Void

  private struct State {
    var completion: Completion?
    /// To call once; nil if no fetcher serves the waiter.
    var endOfService: EndOfService?
    var record: MediaRecord
    var source: FetchProgressSource?
    /// The host of the requested URL.
    var host = ""
  }

  var deadline: MonotonicInstant
  /// The numbers of the payloads that wait.
  private(set) var payloads: [UInt64]
  private let conversions: ConversionListener?
  private let machine: any Machine
  private let start: MonotonicInstant
  private let state: Mutex<State>

  /// The fetch that this waiter waits for.
  var fetch: Fetch?
  /// The number of the request to a fetcher; 0 for none.
  var request: UInt64 = 0
  /// Where the progress of the fetch is reported to the host.
  let trace: FetchTrace?

  init(
    url: UntrustedText, payload: UInt64, deadline: MonotonicInstant, machine: any Machine, trace: FetchTrace? = nil,
    conversions: ConversionListener? = nil, completion: @escaping Completion
  ) {
    (self.deadline, payloads, self.trace, self.conversions) = (deadline, [payload], trace, conversions)
    self.machine = machine
    start = machine.now
    state = Mutex(State(completion: completion, record: MediaRecord(url: url)))
  }

  /// Updates the part of the record that belongs to this waiter alone.
  func note(_ change: (inout MediaRecord) -> Void) {
    state.withLock { change(&$0.record) }
  }

  /// Lets another payload wait, in a fetcher.
  func join(_ payload: UInt64, until deadline: MonotonicInstant) {
    self.deadline = max(self.deadline, deadline)
    if payloads.count < Self.maximumPayloads, !payloads.contains(payload) { payloads.append(payload) }
  }

  /// The maximum number of payloads of a request that take turns.
  private static let maximumPayloads = 16

  /// Records that the file must be converted.
  ///
  /// - Parameter turn: the time that it counts; zero if somebody else waits for the same conversion.
  func noteConversion(_ turn: Duration) {
    if turn > .zero, isOpen { conversions?(turn) }
  }

  /// Makes the record follow the progress of a fetch.
  func follow(_ source: FetchProgressSource) {
    state.withLock { $0.source = source }
  }

  /// Returns the current record, with the time since the start.
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

  /// What the fetch waits for, or last waited for, in words; nil if it never waited.
  var awaited: String? {
    state.withLock { state in state.source?.progress.awaited?.words(host: state.host) }
  }

  /// Whether the complete picture is being converted.
  var isConverting: Bool {
    state.withLock { $0.source?.progress.isConverting == true }
  }

  /// Whether the completion has not been called or dropped yet.
  var isOpen: Bool {
    state.withLock { $0.completion != nil }
  }

  /// Records that a fetcher serves this waiter.
  ///
  /// - Parameter host: the host of the URL.
  func go(to host: String, endOfService: @escaping EndOfService) {
    state.withLock { ($0.endOfService, $0.host) = (endOfService, host) }
  }

  /// Drops the completion, so that it is not called any more, and ends the service, unless the
  /// completion has been called or is about to be.
  func cancel() {
    let end = state.withLock { $0.completion.take() == nil ? nil : $0.endOfService.take() }
    end?(self)
  }

  /// Calls the completion, unless it was called or dropped before.
  ///
  /// - Returns: whether it was called.
  @discardableResult
  func complete(_ result: Result<StoredFile, FetchFailure>) -> Bool {
    let taken = state.withLock { state in state.completion.take().map { ($0, state.endOfService.take()) } }
    guard let (completion, end) = taken else { return false }
    end?(nil)
    if case .failure(let failure) = result {
      note { record in
        record.explanation = failure.message(about: record.url)
        record.isOfMachine = failure.isOfMachine
        record.retryAfter = failure.retryAfter
      }
      completion(result, record(ending: failure.reason))
    } else {
      if case .success(let file) = result { note { $0.converted = file.conversion } }
      completion(result, record(ending: nil))
    }
    return true
  }
}

extension FetchProgress.Awaited {
  /// Returns the description for a message.
  ///
  /// - Parameter host: the host of the requested URL.
  fileprivate func words(host: String) -> String {
    switch self {
    case .origin(let places, let isRedirected):
      "one of \(places) connections to \(isRedirected ? "the host that \(host) redirects to" : host) (--per-host)"
    case .any(let places):
      "one of \(places) connections, as many as \(ConnectionBudget.current(engines: 1).descriptors) descriptors allow (ulimit -n)"
    }
  }
}
