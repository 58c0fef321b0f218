/// The waiters of a fetch, in the order in which they joined.
struct FetchWaiters {
  /// Removed waiters leave an empty slot.
  private var slots: [FetchWaiter?] = []
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// The waiters in the order in which they joined.
  var inOrder: [FetchWaiter] { slots.compactMap { $0 } }

  /// The latest deadline of the waiters.
  var latestDeadline: MonotonicInstant? { slots.lazy.compactMap { $0?.deadline }.max() }

  mutating func add(_ waiter: FetchWaiter) {
    if slots.count >= 64, slots.count > 2 * count { compact() }
    waiter.slot = slots.count
    slots.append(waiter)
    count += 1
  }

  mutating func remove(_ waiter: FetchWaiter) {
    slots[waiter.slot] = nil
    count -= 1
  }

  private mutating func compact() {
    slots = inOrder
    for (slot, waiter) in slots.enumerated() { waiter?.slot = slot }
  }
}
