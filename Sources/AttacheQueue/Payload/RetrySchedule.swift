internal import Attache

/// When to retry a payload whose media could not be attached: exponential backoff with full jitter.
///
/// Source: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
struct RetrySchedule: Sendable {
  /// The maximum number of attempts, including the first.
  var attempts: Int
  /// The upper bound of the wait after the first attempt. It doubles with each attempt.
  static let base = Duration.seconds(1)
  static let longest = Duration.seconds(300)

  /// Returns how long to wait before the next attempt; nil when there is none.
  ///
  /// - Parameters:
  ///   - attempt: the number of the failed attempt, from 1.
  ///   - remaining: the time until the payload expires; nil when it does not.
  ///   - jitter: a random fraction in 0…1.
  func delay(after attempt: Int, remaining: Duration?, jitter: Double) -> Duration? {
    guard attempt < attempts else { return nil }
    let delay = min(Self.longest, Self.base * (1 << min(attempt - 1, 16))) * jitter
    return remaining.map { delay < $0 } ?? true ? delay : nil
  }
}

extension Decision {
  /// How long the payload waits for an origin that the circuit breaker leaves alone; nil when it
  /// does not. A payload for which something was requested, or refused for another reason, does not
  /// wait: its attempt counts, or it could cause requests without end.
  var breakerWait: Duration? {
    guard outcome == .fallback, media.allSatisfy({ $0.retryAfter != nil || $0.reason == nil && $0.attempts == 0 }) else { return nil }
    return media.compactMap(\.retryAfter).max()
  }

  /// Whether another attempt may succeed: nothing was attached, and the failure may be temporary
  /// (``Reason/isRetryable(status:)``).
  var isRetryable: Bool {
    guard outcome == .fallback, let reason else { return false }
    // No media record has a reason that occurred later, for example because the file could not be
    // held.
    guard media.contains(where: { $0.reason == reason }) else { return reason.isRetryable(status: nil) }
    return media.contains { $0.reason?.isRetryable(status: $0.status) ?? false }
  }
}
