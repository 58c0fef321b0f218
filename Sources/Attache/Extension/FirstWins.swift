internal import Synchronization

/// Where the races of one request end: result, expiry, deadline and cancellation all offer, the
/// first wins, and what comes later is dropped.
struct FirstWins: ~Copyable, Sendable {
  private let isDecided = Atomic<Bool>(false)

  /// - Returns: whether this offer is the first.
  func pass() -> Bool {
    isDecided.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
  }

  var isPassed: Bool {
    isDecided.load(ordering: .acquiring)
  }
}
