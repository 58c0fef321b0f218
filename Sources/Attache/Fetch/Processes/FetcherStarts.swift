/// When the next process of a fetcher may be started, after those that have ended. A pure value.
struct FetcherStarts {
  /// The longest pause before a process is started again; one that lived for longer has not ended
  /// soon.
  static let longestPause = Duration.milliseconds(50)
  /// Starts that may fail in a row before what is asked fails: the system may have no process for a
  /// moment.
  static let maximumFailed = 8
  /// From so many soon ends in a row on, the next start waits.
  private static let patientEnds = 4

  /// How many processes in a row ended soon and without an answer.
  private var ends = 0
  /// How many in a row were never ready.
  private var failed = 0

  /// None at first; a process that ends again and again is not started all the time.
  var pause: Duration {
    ends < Self.patientEnds ? .zero : min(Self.longestPause, .milliseconds(1 << min(ends, 10)))
  }

  /// A process is ready to be asked.
  mutating func noteReady() { failed = 0 }

  /// A process has answered.
  mutating func noteAnswer() { ends = 0 }

  /// A process has ended.
  ///
  /// - Parameter age: how long there was one.
  /// - Returns: false when so many never became ready that what is asked has to fail.
  mutating func noteEnd(age: Duration, hasAnswered: Bool, wasReady: Bool) -> Bool {
    ends = hasAnswered || age >= Self.longestPause ? 0 : ends + 1
    guard !wasReady else { return true }
    failed += 1
    guard failed >= Self.maximumFailed else { return true }
    failed = 0
    return false
  }
}
