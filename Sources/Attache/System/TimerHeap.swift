/// One appointment in a ``TimerHeap``; its owner keeps it to cancel it.
///
/// `@unchecked Sendable`: only the heap changes it, and the heap has one owner (a lock or a
/// thread).
package final class TimerEntry: @unchecked Sendable {
  fileprivate(set) var instant: MonotonicInstant
  /// Its index in the heap's books; -1 when it was taken out.
  fileprivate var seat: Int
  fileprivate var action: (@Sendable () -> Void)?

  fileprivate init(instant: MonotonicInstant, seat: Int, action: @escaping @Sendable () -> Void) {
    self.instant = instant
    self.seat = seat
    self.action = action
  }
}

/// A binary heap of appointments, the earliest first; the place of each is known, so that a
/// cancelled one leaves at once and frees what it holds.
///
/// What is sifted is numbers alone: ten thousand entries that lie about in memory would each be
/// touched to compare them, and counted.
struct TimerHeap {
  private struct Node {
    var instant: MonotonicInstant
    var seat: Int
  }

  private var nodes: [Node] = []
  /// By seat: the appointment, and where in the heap it is.
  private var entries: [TimerEntry?] = []
  private var positions: [Int] = []
  private var freeSeats: [Int] = []

  /// When the earliest appointment is due, or nil when there is none.
  var earliest: MonotonicInstant? {
    nodes.first?.instant
  }

  /// Adds an appointment and returns it, to be given to ``remove(_:)``.
  mutating func add(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerEntry {
    let seat = freeSeats.popLast() ?? entries.count
    let entry = TimerEntry(instant: instant, seat: seat, action: action)
    if seat == entries.count {
      entries.append(entry)
      positions.append(nodes.count)
    } else {
      entries[seat] = entry
    }
    nodes.append(Node(instant: instant, seat: seat))
    siftUp(nodes.count - 1)
    return entry
  }

  /// Takes an appointment out; one that is due already or was removed before is left alone.
  mutating func remove(_ entry: TimerEntry) {
    guard holds(entry) else { return }
    removeNode(at: positions[entry.seat])
    vacate(entry)
  }

  /// Gives an appointment another time; one that was taken out is left alone.
  mutating func move(_ entry: TimerEntry, to instant: MonotonicInstant) {
    guard holds(entry) else { return }
    entry.instant = instant
    nodes[positions[entry.seat]].instant = instant
    siftDown(positions[entry.seat])
    siftUp(positions[entry.seat])
  }

  /// Takes out the earliest appointment if it is due at `now`, and returns what it is to do.
  mutating func popDue(at now: MonotonicInstant) -> (@Sendable () -> Void)? {
    guard let first = nodes.first, first.instant <= now, let entry = entries[first.seat] else { return nil }
    let action = entry.action
    removeNode(at: 0)
    vacate(entry)
    return action
  }

  private func holds(_ entry: TimerEntry) -> Bool {
    entry.seat >= 0 && entry.seat < entries.count && entries[entry.seat] === entry
  }

  private mutating func vacate(_ entry: TimerEntry) {
    entries[entry.seat] = nil
    freeSeats.append(entry.seat)
    entry.seat = -1
    entry.action = nil
  }

  private mutating func removeNode(at position: Int) {
    let last = nodes.removeLast()
    guard position < nodes.count else { return }
    place(last, at: position)
    siftDown(position)
    siftUp(positions[last.seat])
  }

  private mutating func place(_ node: Node, at position: Int) {
    nodes[position] = node
    positions[node.seat] = position
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
