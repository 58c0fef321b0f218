internal import Attache

/// When a payload that could not be given its media is tried again: exponential backoff with full
/// jitter.
///
/// Source: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
struct RetrySchedule: Sendable {
  /// Tries at most, the first included.
  var attempts: Int
  /// The ceiling of the wait after the first try; it doubles with each.
  static let base = Duration.seconds(1)
  static let longest = Duration.seconds(300)

  /// How long to wait before the next try, or nil when there is to be none.
  ///
  /// - Parameters:
  ///   - attempt: the number of the try that failed, from 1.
  ///   - remaining: how long until the payload expires; nil when it does not.
  ///   - jitter: a random fraction in 0…1.
  func delay(after attempt: Int, remaining: Duration?, jitter: Double) -> Duration? {
    guard attempt < attempts else { return nil }
    let delay = min(Self.longest, Self.base * (1 << min(attempt - 1, 16))) * jitter
    return remaining.map { delay < $0 } ?? true ? delay : nil
  }
}

extension DecidedPayload {
  /// Whether another try may end better: nothing was attached, and what went wrong may pass by
  /// itself (``Reason/isRetryable(status:)``).
  var isRetryable: Bool {
    guard outcome == .fallback, let reason else { return false }
    // No medium has a reason that came up later: its file could not be held, for one.
    guard media.contains(where: { $0.reason == reason }) else { return reason.isRetryable(status: nil) }
    return media.contains { $0.reason?.isRetryable(status: $0.status) ?? false }
  }
}
