internal import Attache

/// Decides when a result that is tried again and again is given up. Only time counts in which the
/// service accepted others, so that an outage of the service gives up nothing.
struct GivingUp: Sendable {
  /// How long a result's attempts may fail.
  let limit: Duration
  private var acceptedAt: MonotonicInstant?

  init(after limit: Duration) {
    self.limit = limit
  }

  /// Records that the service took a result.
  mutating func noteAcceptance(at now: MonotonicInstant) { acceptedAt = now }

  /// Whether the time before a failed attempt counts (``Delivery/triedFor``).
  func counts(at now: MonotonicInstant) -> Bool {
    acceptedAt.map { $0.duration(to: now) <= Delivery.longestPause } ?? false
  }

  /// How a result ends whose attempt failed; nil if it is tried again. An expiry wins.
  ///
  /// - Parameter wall: the wall clock time since 1970.
  func end(of delivery: Delivery, wall: Duration) -> DeliveryStatus? {
    guard delivery.triedFor >= limit else { return nil }
    return delivery.expiresAt.map { $0 <= wall } ?? false ? .expired : .timedOut
  }
}
