internal import Glibc

/// A point on the monotonic clock (`CLOCK_MONOTONIC`). This clock does not jump with the wall
/// clock, and stops while the machine is suspended.
public struct MonotonicInstant: InstantProtocol, Sendable {
  /// Nanoseconds since an arbitrary start; on Linux, the boot of the machine.
  public var nanoseconds: Int64

  /// Makes an instant from nanoseconds since the start of the clock.
  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The current instant.
  public static var now: MonotonicInstant {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  package static let distantPast = MonotonicInstant(nanoseconds: .min)
  package static let distantFuture = MonotonicInstant(nanoseconds: .max)

  /// The time until this instant as a timeout of poll(2), in milliseconds; -1 means no limit. The
  /// wait may end early, so the caller checks the clock and waits again. The result is rounded up,
  /// so that the caller does not spin at the end.
  package var pollTimeout: Int32 {
    guard let nanoseconds = nanosecondTimeout else { return -1 }
    return Int32(clamping: (nanoseconds + 999_999) / 1_000_000)
  }

  /// The time until this instant as a timeout of ppoll(2), in nanoseconds; nil means no limit. The
  /// wait may end early, as with ``pollTimeout``.
  ///
  /// A wait of more than 20 ms is halved, because the kernel may extend it by 1/1000, or by 1/200
  /// in a niced process.
  var nanosecondTimeout: Int64? {
    guard self != .distantFuture else { return nil }
    let now = MonotonicInstant.now.nanoseconds
    guard nanoseconds > now else { return 0 }
    let (left, overflows) = nanoseconds.subtractingReportingOverflow(now)
    return overflows ? .max / 2 : left > 20_000_000 ? left / 2 : left
  }

  /// Returns the instant after `duration`, or before this one if `duration` is negative; saturates
  /// at the ends of the range.
  public func advanced(by duration: Duration) -> MonotonicInstant {
    let (sum, overflows) = nanoseconds.addingReportingOverflow(duration.nanoseconds)
    return overflows ? (duration < .zero ? .distantPast : .distantFuture) : MonotonicInstant(nanoseconds: sum)
  }

  /// Returns the time from this instant to `other`, negative if `other` is earlier; saturates at
  /// about 292 years.
  public func duration(to other: MonotonicInstant) -> Duration {
    let (difference, overflows) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
    return .nanoseconds(overflows ? (other < self ? .min : .max) : difference)
  }

  public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}

extension Duration {
  /// The duration in whole nanoseconds; saturates at about 292 years.
  public var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, scaleOverflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, sumOverflows) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
    return scaleOverflows || sumOverflows ? (seconds < 0 ? .min : .max) : sum
  }

  /// The duration in milliseconds with a fraction, as in the report.
  public var milliseconds: Double {
    Double(nanoseconds) / 1_000_000
  }
}
