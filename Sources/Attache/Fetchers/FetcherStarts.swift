/// Decides when the next process of a fetcher may be started after earlier ones have ended. A pure
/// value.
struct FetcherStarts {
  /// The longest pause before a process is started again. A process that lives at least this long
  /// has not ended early.
  static let longestPause = Duration.milliseconds(50)
  /// The requests fail when this many starts in a row have failed. Fewer failures are retried: the
  /// system may be temporarily unable to create a process.
  static let maximumFailed = 8
  /// The number of early ends in a row from which on the next start is delayed.
  private static let patientEnds = 4

  /// The number of processes in a row that ended early and without a result.
  private var ends = 0
  /// The number of processes in a row that never became ready.
  private var failed = 0

  /// The pause before the next start. Zero at first; it grows so that a process that ends
  /// repeatedly is not restarted continuously.
  var pause: Duration {
    ends < Self.patientEnds ? .zero : min(Self.longestPause, .milliseconds(1 << min(ends, 10)))
  }

  /// Records that a process is ready for requests.
  mutating func noteReady() { failed = 0 }

  /// Records that a process has returned a result.
  mutating func noteAnswer() { ends = 0 }

  /// Records that a process has ended.
  ///
  /// - Parameter age: how long the process lived.
  /// - Returns: false when so many processes never became ready that the requests must fail.
  mutating func noteEnd(age: Duration, hasAnswered: Bool, wasReady: Bool) -> Bool {
    ends = hasAnswered || age >= Self.longestPause ? 0 : ends + 1
    guard !wasReady else { return true }
    failed += 1
    guard failed >= Self.maximumFailed else { return true }
    failed = 0
    return false
  }
}
