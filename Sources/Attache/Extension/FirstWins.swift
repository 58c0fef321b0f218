internal import Synchronization

/// Decides the race between result, expiry, deadline and cancellation of one request. The first
/// offer wins; later ones are discarded.
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
