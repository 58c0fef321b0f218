internal import Synchronization

/// How far a fetch is, and who waits for it: written on the loop; read from any thread.
final class FetchTracker: FetchProgressSource {
  private struct State {
    var progress = FetchProgress()
    var waiters = FetchWaiters()
    /// How many of them have given up, and are still to be taken out.
    var absent = 0
    var isOver = false
    /// Where another process is told how far the fetch is.
    var trace: FetchTrace?

    var isAwaited: Bool { waiters.count > absent }
  }

  /// What becomes of one who would join.
  enum JoinResult {
    case waits
    /// It comes too late to wait.
    case late
  }

  private let state = Mutex(State())

  /// How far the fetch is.
  var progress: FetchProgress {
    state.withLock { $0.progress }
  }

  /// Notes how far the fetch is.
  func note(_ change: (inout FetchProgress) -> Void) {
    state.withLock { state in
      change(&state.progress)
      state.trace?.note(state.progress)
    }
  }

  /// Notes that the fetch waits for a connection.
  func beginWait(for awaited: FetchProgress.Awaited, at now: MonotonicInstant) {
    note { ($0.awaited, $0.waitingSince) = (awaited, now) }
  }

  /// Notes that it waits no more, if it did.
  func endWait(at now: MonotonicInstant) {
    note { progress in
      guard let since = progress.waitingSince.take() else { return }
      progress.timing.wait = (progress.timing.wait ?? .zero) + since.duration(to: now)
    }
  }

  func join(_ waiter: FetchWaiter) -> JoinResult {
    state.withLock { state in
      // One that everybody has given up is as good as over.
      guard !state.isOver, state.waiters.isEmpty || state.isAwaited else { return .late }
      state.waiters.add(waiter)
      if let trace = waiter.trace { state.trace = trace }
      return .waits
    }
  }

  /// Has one wait longer.
  func extend(_ waiter: FetchWaiter, to deadline: MonotonicInstant) {
    state.withLock { _ in waiter.deadline = max(waiter.deadline, deadline) }
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

  /// Ends the tracker, once.
  ///
  /// - Returns: those who wait, in the order in which they came; nobody when it had ended.
  func end(with file: StoredFile? = nil) -> [FetchWaiter] {
    state.withLock { state in
      guard !state.isOver else { return [] }
      state.isOver = true
      if let file { state.progress.type = file.type }
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
