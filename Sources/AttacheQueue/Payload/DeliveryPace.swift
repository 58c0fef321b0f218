internal import Attache

/// Shares a rate among the deliverers of a queue: the time to which the results that were claimed
/// reach is stored in the queue. Times are in microseconds of the queue's wall clock.
package struct DeliveryPace: Sendable {
  /// The time of one result.
  package let interval: Int64
  /// From when on results may be claimed: an idle queue saves up at most ``span``,
  /// but at least one result.
  private let start: Int64
  private let now: Int64

  /// - Parameters:
  ///   - until: the stored time, at most `now`.
  ///   - rate: the maximum number of results per second, more than 0.
  package init(until: Int64, now: Int64, rate: Double) {
    interval = Self.interval(rate)
    self.now = now
    start = max(until, now - max(interval, Self.span.microseconds))
  }

  /// The span that an idle queue saves up, and a deliverer takes ahead.
  package static let span = Duration.milliseconds(100)

  /// The time of one result at a rate, at least a microsecond.
  package static func interval(_ rate: Double) -> Int64 { Int64(min(3_600e6 * 24, max(1, (1e6 / rate).rounded()))) }

  /// The number of results that may be claimed now.
  package var allowed: Int { Int((now - start) / interval) }

  /// The time to store after a claim.
  package func until(after count: Int) -> Int64 { start + Int64(count) * interval }

  /// How long until the next result may be claimed.
  package var wait: Duration { .microseconds(max(0, start + interval - now)) }
}
