/// Decides when to retry a transient failure: exponential backoff with full jitter, within the
/// budget.
struct RetryPolicy: Sendable {
  /// The maximum number of retries after the first try.
  var retries: Int
  /// The longest delay before the first retry. It doubles with each retry, up to ``longest``.
  static let base = Duration.milliseconds(100)
  static let longest = Duration.seconds(5)

  /// Returns when to retry, or nil when no retry is left or the delay exceeds the budget.
  ///
  /// - Parameters:
  ///   - tries: the number of tries so far.
  ///   - asked: the delay from Retry-After. The wait is never shorter.
  ///   - jitter: a random fraction in 0…1.
  func next(after tries: Int, now: MonotonicInstant, budgetEnds: MonotonicInstant, asked: Duration?, jitter: Double) -> MonotonicInstant? {
    guard tries <= retries else { return nil }
    let ceiling = min(Self.longest, Self.base * (1 << min(tries - 1, 16)))
    let wait = max(ceiling * jitter, asked ?? .zero)
    let instant = now.advanced(by: wait)
    return instant < budgetEnds ? instant : nil
  }
}
