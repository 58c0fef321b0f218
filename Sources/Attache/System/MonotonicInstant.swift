internal import Glibc

/// A point on the monotonic clock (`CLOCK_MONOTONIC`): it never jumps with the wall clock and
/// stands still while the machine is suspended.
public struct MonotonicInstant: InstantProtocol, Sendable {
  /// Nanoseconds since an arbitrary start, the machine's boot on Linux.
  public var nanoseconds: Int64

  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The instant at which this is read.
  public static var now: MonotonicInstant {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  package static let distantPast = MonotonicInstant(nanoseconds: .min)
  package static let distantFuture = MonotonicInstant(nanoseconds: .max)

  /// How long to wait for this instant as poll(2) takes it, in milliseconds; -1 is for ever. Who
  /// wakes early waits again.
  ///
  /// A long wait is cut in half, since the kernel may let it last longer by a thousandth, and by a
  /// two-hundredth in a process that is niced; the last piece is rounded up, so that nobody spins.
  package var pollTimeout: Int32 {
    guard self != .distantFuture else { return -1 }
    let now = MonotonicInstant.now.nanoseconds
    guard nanoseconds > now else { return 0 }
    let left = nanoseconds - now
    return Int32(clamping: ((left > 20_000_000 ? left / 2 : left) + 999_999) / 1_000_000)
  }

  public func advanced(by duration: Duration) -> MonotonicInstant {
    let (sum, overflows) = nanoseconds.addingReportingOverflow(duration.nanoseconds)
    return overflows ? (duration < .zero ? .distantPast : .distantFuture) : MonotonicInstant(nanoseconds: sum)
  }

  /// The time from this instant to another, negative for an earlier one; saturates at about 292
  /// years.
  public func duration(to other: MonotonicInstant) -> Duration {
    let (difference, overflows) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
    return .nanoseconds(overflows ? (other < self ? .min : .max) : difference)
  }

  public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}

extension Duration {
  /// The whole nanoseconds of this duration; saturates at about 292 years.
  public var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, scaleOverflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, sumOverflows) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
    return scaleOverflows || sumOverflows ? (seconds < 0 ? .min : .max) : sum
  }

  /// Milliseconds with a fraction, as the report writes them.
  public var milliseconds: Double {
    Double(nanoseconds) / 1_000_000
  }
}
