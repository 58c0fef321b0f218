/// When a transient failure is tried again: exponential backoff with full jitter, only inside the
/// budget.
struct RetryPolicy: Sendable {
  /// Further tries after the first.
  var retries: Int
  /// The longest wait before the first further try; it doubles with each.
  static let base = Duration.milliseconds(100)
  static let longest = Duration.seconds(5)

  /// When to try again, or nil when it is not worth it.
  ///
  /// - Parameters:
  ///   - tries: how many were made.
  ///   - asked: what Retry-After asks for; the wait is no shorter.
  ///   - jitter: a random fraction in 0…1.
  func next(after tries: Int, now: MonotonicInstant, budgetEnds: MonotonicInstant, asked: Duration?, jitter: Double) -> MonotonicInstant? {
    guard tries <= retries else { return nil }
    let ceiling = min(Self.longest, Self.base * (1 << min(tries - 1, 16)))
    let wait = max(ceiling * jitter, asked ?? .zero)
    let instant = now.advanced(by: wait)
    return instant < budgetEnds ? instant : nil
  }
}
