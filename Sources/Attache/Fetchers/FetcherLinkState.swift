/// The state of a ``FetcherLink``.
struct FetcherLinkState: ~Copyable {
  /// nil while there is no process.
  var stream: FrameStream?
  /// Whether a start is in progress or scheduled.
  var isStarting = false
  /// The number of processes that have been started.
  var generation = 0
  /// The number of the parent that started the last one.
  var parent = 0
  var requests = FetcherRequests()
  /// Cancelled requests that the process has not confirmed.
  var leaving: [UInt64: (request: FetcherRequests.Request, done: @Sendable () -> Void)] = [:]
  var pulses: [UInt64: @Sendable () -> Void] = [:]
  var closing: [@Sendable (String?) -> Void] = []
  /// Whether a flush is posted, and whether a flush with low priority is.
  var isFlushing = false
  var isFlushingLater = false
  /// The flushes to post when the lock is released.
  var flushes: Flushes = []
  /// Whether the loop of the process is running, and whether the process has returned a result.
  var isReady = false
  var hasAnswered = false
  /// When the process was started.
  var start = MonotonicInstant.distantPast
  /// The pause before the next start. It grows with processes that end early and without a result.
  var pause = GrowingPause(first: .milliseconds(16), longest: Self.longestPause, free: 3)
  /// The number of processes in a row that never became ready.
  var failedStarts = 0
  /// nil while nothing checks the process.
  var silence: FetcherSilence?
  var places = FetchPlaces()
  /// Why the last process could not start.
  var message = ""
  var isOver = false

  /// The longest pause before a process is started again. A process that lives at least this long
  /// has not ended early.
  static let longestPause = Duration.milliseconds(50)

  struct Flushes: OptionSet {
    let rawValue: UInt8

    static let soon = Flushes(rawValue: 1)
    /// To run when the loop is not behind with deadlines.
    static let later = Flushes(rawValue: 2)
  }

  /// Records a process that never became ready.
  ///
  /// - Returns: whether there were so many in a row that the requests must fail.
  mutating func noteFailedStart() -> Bool {
    failedStarts = (failedStarts + 1) % GrowingPause.maximumFailures
    return failedStarts == 0
  }

  /// Has the loop send what has been gathered.
  mutating func flushSoon() {
    if !isFlushing { flushes.insert(.soon) }
    isFlushing = true
  }

  mutating func flushLater() {
    if !isFlushingLater { flushes.insert(.later) }
    isFlushingLater = true
  }

  /// Gathers the frame of a request.
  mutating func send(_ request: FetcherRequests.Request, _ number: UInt64) {
    stream?.gather {
      FetcherFrame.append(
        .fetch(
          number, place: UInt32(request.place), payload: request.waiters.first?.payloads.first ?? 0, deadline: request.deadline,
          isRefused: request.refusal != nil, fields: request.fields, url: request.url.text), to: &$0)
    }
  }

  /// Removes all requests.
  ///
  /// - Returns: their waiters.
  mutating func removeAllRequests() -> [FetchWaiter] {
    let all = requests.removeAll()
    for request in all { places.give(back: request.place) }
    return all.flatMap(\.waiters)
  }
}
