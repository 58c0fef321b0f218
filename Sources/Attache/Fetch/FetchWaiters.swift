/// The waiters of a fetch, in the order in which they joined.
struct FetchWaiters {
  /// Removed waiters leave an empty seat.
  private var seats: [FetchWaiter?] = []
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// The waiters in the order in which they joined.
  var inOrder: [FetchWaiter] { seats.compactMap { $0 } }

  /// The latest deadline of the waiters.
  var latestDeadline: MonotonicInstant? { seats.lazy.compactMap { $0?.deadline }.max() }

  mutating func add(_ waiter: FetchWaiter) {
    if seats.count >= 64, seats.count > 2 * count { closeRanks() }
    waiter.seat = seats.count
    seats.append(waiter)
    count += 1
  }

  mutating func remove(_ waiter: FetchWaiter) {
    seats[waiter.seat] = nil
    count -= 1
  }

  private mutating func closeRanks() {
    seats = inOrder
    for (seat, waiter) in seats.enumerated() { waiter?.seat = seat }
  }
}
