internal import Synchronization

/// How far a fetch is, and who waits for it: written on the loop; read from any thread.
final class FetchCourse: Sendable {
  private struct State {
    var record = MediaRecord(url: "")
    var waiters = FetchWaiters()
    /// How many of them have given up, and are still to be taken out.
    var absent = 0
    var isOver = false
    /// What the fetch waits for, or waited for last, and since when it does.
    var awaited: String?
    var waitingSince: MonotonicInstant?

    var isAwaited: Bool { waiters.count > absent }
  }

  /// What becomes of one who would join.
  enum Admission {
    case waits
    /// It comes too late to wait.
    case late
  }

  private let state = Mutex(State())

  /// Notes how far the fetch is.
  func note(_ change: (inout MediaRecord) -> Void) {
    state.withLock { change(&$0.record) }
  }

  /// Notes that the fetch waits for a connection.
  ///
  /// - Parameter awaited: what it waits for, in words.
  func beginWait(for awaited: String, at now: MonotonicInstant) {
    state.withLock { ($0.awaited, $0.waitingSince) = (awaited, now) }
  }

  /// Notes that it waits no more, if it did.
  func endWait(at now: MonotonicInstant) {
    state.withLock { state in
      guard let since = state.waitingSince.take() else { return }
      state.record.timing.wait = (state.record.timing.wait ?? .zero) + since.duration(to: now)
    }
  }

  /// Takes over what the fetch is, apart from who asked for it.
  func report(to record: inout MediaRecord, at now: MonotonicInstant) {
    let (course, awaited) = state.withLock { state in
      var record = state.record
      if let since = state.waitingSince { record.timing.wait = (record.timing.wait ?? .zero) + since.duration(to: now) }
      return (record, state.awaited)
    }
    record.awaited = awaited
    record.status = course.status
    record.bytes = course.bytes
    record.type = course.type
    record.attempts = course.attempts
    record.timing = course.timing
    // Who joined has not been answered from the store.
    if record.cache == .miss { record.cache = course.cache }
  }

  func join(_ waiter: FetchWaiter) -> Admission {
    state.withLock { state in
      // One that everybody has given up is as good as over.
      guard !state.isOver, state.waiters.isEmpty || state.isAwaited else { return .late }
      state.waiters.add(waiter)
      return .waits
    }
  }

  /// Notes that one has given up, who will be taken out by ``leave(_:)``.
  func noteAbsence() {
    state.withLock { $0.absent += 1 }
  }

  /// Takes one who has given up out.
  ///
  /// - Returns: whether he was the last.
  func leave(_ waiter: FetchWaiter) -> Bool {
    state.withLock { state in
      guard !state.isOver else { return false }
      state.waiters.remove(waiter)
      state.absent -= 1
      return state.waiters.isEmpty
    }
  }

  /// Ends the course, once.
  ///
  /// - Returns: those who wait, in the order in which they came; nobody when it had ended.
  func end(with file: StoredFile? = nil) -> [FetchWaiter] {
    state.withLock { state in
      guard !state.isOver else { return [] }
      state.isOver = true
      if let file { state.record.type = file.type }
      defer { state.waiters = FetchWaiters() }
      return state.waiters.inOrder
    }
  }

  /// Whether somebody waits who has not given up.
  var isAwaited: Bool {
    state.withLock { $0.isAwaited }
  }

  /// When the one who can wait longest no longer can; nil when nobody waits.
  var latestDeadline: MonotonicInstant? {
    state.withLock { $0.waiters.latestDeadline }
  }
}
