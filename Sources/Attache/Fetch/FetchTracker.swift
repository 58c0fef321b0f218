internal import Synchronization

/// The progress and the waiters of a fetch. Written on the loop, read from any thread.
final class FetchTracker: FetchProgressSource {
  private struct State {
    var progress = FetchProgress()
    var waiters = FetchWaiters()
    /// The number of waiters that were cancelled and are not removed yet.
    var absent = 0
    var isOver = false
    /// Where the progress is reported to another process.
    var trace: FetchTrace?

    var isAwaited: Bool { waiters.count > absent }
  }

  /// The result of an attempt to join.
  enum JoinResult {
    case waits
    /// The fetch is over or has been abandoned.
    case late
  }

  private let state = Mutex(State())

  /// The current progress of the fetch.
  var progress: FetchProgress {
    state.withLock { $0.progress }
  }

  /// Updates the progress of the fetch.
  func note(_ change: (inout FetchProgress) -> Void) {
    state.withLock { state in
      change(&state.progress)
      state.trace?.note(state.progress)
    }
  }

  /// Records that the fetch waits for a connection.
  func beginWait(for awaited: FetchProgress.Awaited, at now: MonotonicInstant) {
    note { ($0.awaited, $0.waitingSince) = (awaited, now) }
  }

  /// Records the end of the wait, if there was one.
  func endWait(at now: MonotonicInstant) {
    note { progress in
      guard let since = progress.waitingSince.take() else { return }
      progress.timing.wait = (progress.timing.wait ?? .zero) + since.duration(to: now)
    }
  }

  func join(_ waiter: FetchWaiter) -> JoinResult {
    state.withLock { state in
      // A fetch whose waiters were all cancelled counts as over.
      guard !state.isOver, state.waiters.isEmpty || state.isAwaited else { return .late }
      state.waiters.add(waiter)
      if let trace = waiter.trace { state.trace = trace }
      return .waits
    }
  }

  /// Extends the deadline of a waiter.
  func extend(_ waiter: FetchWaiter, to deadline: MonotonicInstant) {
    state.withLock { _ in waiter.deadline = max(waiter.deadline, deadline) }
  }

  /// Records that a waiter was cancelled. ``leave(_:)`` removes it later.
  func noteAbsence() {
    state.withLock { $0.absent += 1 }
  }

  /// Removes a cancelled waiter.
  ///
  /// - Returns: whether it was the last one.
  func leave(_ waiter: FetchWaiter) -> Bool {
    state.withLock { state in
      guard !state.isOver else { return false }
      state.waiters.remove(waiter)
      state.absent -= 1
      return state.waiters.isEmpty
    }
  }

  /// Ends the tracker.
  ///
  /// - Returns: the waiters in the order in which they joined; empty when the tracker had already
  ///   ended.
  func end(with file: StoredFile? = nil) -> [FetchWaiter] {
    state.withLock { state in
      guard !state.isOver else { return [] }
      state.isOver = true
      if let file { state.progress.type = file.type }
      defer { state.waiters = FetchWaiters() }
      return state.waiters.inOrder
    }
  }

  /// Whether a waiter remains that was not cancelled.
  var isAwaited: Bool {
    state.withLock { $0.isAwaited }
  }

  /// The latest deadline of the waiters; nil when there are none.
  var latestDeadline: MonotonicInstant? {
    state.withLock { $0.waiters.latestDeadline }
  }
}
