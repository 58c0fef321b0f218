/// A timer in a ``TimerHeap``. Its owner keeps it to cancel or move the timer.
package final class TimerEntry: Sendable {
  /// The index in the heap's `timers` and `positions`. Another timer may have it after this one has
  /// left the heap.
  fileprivate let slot: Int

  fileprivate init(slot: Int) {
    self.slot = slot
  }
}

/// A binary heap of timers, the earliest first. It records the position of each timer, so that
/// cancelling removes the timer at once and frees its action.
///
/// Sifting moves only numbers. To compare ten thousand entries that are spread over memory, it
/// would have to load and reference-count each one.
struct TimerHeap {
  private struct Node {
    var instant: MonotonicInstant
    var slot: Int
  }

  private struct Timer {
    let entry: TimerEntry
    let action: @Sendable () -> Void
  }

  private var nodes: [Node] = []
  /// For each slot, the timer and its position in `nodes`.
  private var timers: [Timer?] = []
  private var positions: [Int] = []
  private var freeSlots: [Int] = []

  /// The instant of the earliest timer, or nil when there is none.
  var earliest: MonotonicInstant? {
    nodes.first?.instant
  }

  /// Adds a timer and returns it, for ``remove(_:)`` and ``move(_:to:)``.
  mutating func add(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerEntry {
    let slot = freeSlots.popLast() ?? timers.count
    let entry = TimerEntry(slot: slot)
    if slot == timers.count {
      timers.append(Timer(entry: entry, action: action))
      positions.append(nodes.count)
    } else {
      timers[slot] = Timer(entry: entry, action: action)
    }
    nodes.append(Node(instant: instant, slot: slot))
    siftUp(nodes.count - 1)
    return entry
  }

  /// Removes a timer. Does nothing if the timer has already run or was removed.
  ///
  /// - Returns: the action that will not run. A caller that holds a lock must release the action
  ///   after the lock: the action may hold the last reference to a user's object.
  @discardableResult
  mutating func remove(_ entry: TimerEntry) -> (@Sendable () -> Void)? {
    guard holds(entry) else { return nil }
    removeNode(at: positions[entry.slot])
    return vacate(entry.slot)?.action
  }

  /// Moves a timer to another instant. Does nothing if the timer is no longer in the heap.
  mutating func move(_ entry: TimerEntry, to instant: MonotonicInstant) {
    guard holds(entry) else { return }
    nodes[positions[entry.slot]].instant = instant
    siftDown(positions[entry.slot])
    siftUp(positions[entry.slot])
  }

  /// Removes the earliest timer if it is due at `now`, and returns its action.
  mutating func popDue(at now: MonotonicInstant) -> (@Sendable () -> Void)? {
    guard let first = nodes.first, first.instant <= now else { return nil }
    removeNode(at: 0)
    return vacate(first.slot)?.action
  }

  private func holds(_ entry: TimerEntry) -> Bool {
    entry.slot < timers.count && timers[entry.slot]?.entry === entry
  }

  private mutating func vacate(_ slot: Int) -> Timer? {
    freeSlots.append(slot)
    return timers[slot].take()
  }

  private mutating func removeNode(at position: Int) {
    let last = nodes.removeLast()
    guard position < nodes.count else { return }
    place(last, at: position)
    siftDown(position)
    siftUp(positions[last.slot])
  }

  private mutating func place(_ node: Node, at position: Int) {
    nodes[position] = node
    positions[node.slot] = position
  }

  private mutating func siftUp(_ start: Int) {
    var child = start
    let node = nodes[child]
    while child > 0 {
      let parent = (child - 1) / 2
      guard node.instant < nodes[parent].instant else { break }
      place(nodes[parent], at: child)
      child = parent
    }
    place(node, at: child)
  }

  private mutating func siftDown(_ start: Int) {
    var parent = start
    let node = nodes[parent]
    while true {
      var child = 2 * parent + 1
      guard child < nodes.count else { break }
      if child + 1 < nodes.count, nodes[child + 1].instant < nodes[child].instant { child += 1 }
      guard nodes[child].instant < node.instant else { break }
      place(nodes[child], at: parent)
      parent = child
    }
    place(node, at: parent)
  }
}
