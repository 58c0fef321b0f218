/// One appointment in a ``TimerHeap``; its owner keeps it to cancel it.
///
/// `@unchecked Sendable`: only the heap changes it, and the heap has one owner (a lock or a thread).
package final class TimerEntry: @unchecked Sendable {
  fileprivate(set) var instant: MonotonicInstant
  fileprivate var position: Int
  fileprivate(set) var action: (@Sendable () -> Void)?

  fileprivate init(instant: MonotonicInstant, position: Int, action: @escaping @Sendable () -> Void) {
    self.instant = instant
    self.position = position
    self.action = action
  }
}

/// A binary heap of appointments, the earliest first; each knows its place, so that a cancelled one leaves at once and frees what it holds.
struct TimerHeap {
  private var entries: [TimerEntry] = []

  /// When the earliest appointment is due, or nil when there is none.
  var earliest: MonotonicInstant? {
    entries.first?.instant
  }

  /// Adds an appointment and returns it, to be given to ``remove(_:)``.
  mutating func add(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerEntry {
    let entry = TimerEntry(instant: instant, position: entries.count, action: action)
    entries.append(entry)
    siftUp(entry.position)
    return entry
  }

  /// Takes an appointment out; one that is due already or was removed before is left alone.
  mutating func remove(_ entry: TimerEntry) {
    let position = entry.position
    guard position >= 0, position < entries.count, entries[position] === entry else { return }
    let last = entries.removeLast()
    if last !== entry {
      place(last, at: position)
      siftDown(position)
      siftUp(last.position)
    }
    entry.position = -1
    entry.action = nil
  }

  /// Gives an appointment another time; one that was taken out is left alone.
  mutating func move(_ entry: TimerEntry, to instant: MonotonicInstant) {
    let position = entry.position
    guard position >= 0, position < entries.count, entries[position] === entry else { return }
    entry.instant = instant
    siftDown(position)
    siftUp(entry.position)
  }

  /// Takes out the earliest appointment if it is due at `now`, and returns what it is to do.
  mutating func popDue(at now: MonotonicInstant) -> (@Sendable () -> Void)? {
    guard let first = entries.first, first.instant <= now else { return nil }
    let action = first.action
    remove(first)
    return action
  }

  private mutating func place(_ entry: TimerEntry, at position: Int) {
    entries[position] = entry
    entry.position = position
  }

  private mutating func siftUp(_ start: Int) {
    var child = start
    let entry = entries[child]
    while child > 0 {
      let parent = (child - 1) / 2
      guard entry.instant < entries[parent].instant else { break }
      place(entries[parent], at: child)
      child = parent
    }
    place(entry, at: child)
  }

  private mutating func siftDown(_ start: Int) {
    var parent = start
    let entry = entries[parent]
    while true {
      var child = 2 * parent + 1
      guard child < entries.count else { break }
      if child + 1 < entries.count, entries[child + 1].instant < entries[child].instant { child += 1 }
      guard entries[child].instant < entry.instant else { break }
      place(entries[child], at: parent)
      parent = child
    }
    place(entry, at: parent)
  }
}
