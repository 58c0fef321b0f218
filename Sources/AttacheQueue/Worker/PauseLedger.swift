internal import Attache

/// Decides which pauses of a worker are reported: at most one a minute, and the end of each
/// reported pause. A disk at its limit makes a worker pause every few seconds.
struct PauseLedger: Sendable {
  /// The time between two reports of a pause.
  static let interval = Duration.seconds(60)

  private var isPaused = false
  /// Whether the last report was of a pause.
  private var isReported = false
  private var reportedAt: MonotonicInstant?
  /// Pauses that began since the last report, which is not included.
  private var count = 0

  /// Records the state of the worker.
  ///
  /// - Parameter fault: why it is paused; nil when it is not.
  /// - Returns: what to report. A lasting pause is reported as soon as the interval allows.
  mutating func note(_ fault: MachineFault?, at now: MonotonicInstant) -> WorkerNotice? {
    let begins = fault != nil && !isPaused
    isPaused = fault != nil
    guard let fault else {
      defer { isReported = false }
      return isReported ? .resumed : nil
    }
    if begins { count += 1 }
    guard !isReported, reportedAt.map({ $0.advanced(by: Self.interval) <= now }) ?? true else { return nil }
    defer { (isReported, reportedAt, count) = (true, now, 0) }
    return .paused(fault.text, count: count)
  }
}
