/// The progress and the waiters of a fetch. On the loop only.
struct FetchTracker {
  /// The result of an attempt to join.
  enum JoinResult {
    case waits
    /// The fetch is over or has been abandoned.
    case late
  }

  /// The progress for the waiters' records.
  let published = PublishedProgress()
  private var progress = FetchProgress()
  private var waiters = FetchWaiters()
  /// The number of waiters that were cancelled and are not removed yet.
  private var absent = 0
  private var isOver = false
  /// Where the progress is reported to another process.
  private var trace: FetchTrace?

  /// Whether a waiter remains that was not cancelled.
  var isAwaited: Bool { waiters.count > absent }

  /// The payloads of the waiters.
  var payloads: [UInt64] { waiters.inOrder.flatMap(\.payloads) }

  /// The latest deadline of the waiters; nil when there are none.
  var latestDeadline: MonotonicInstant? { waiters.latestDeadline }

  /// Updates the progress of the fetch.
  mutating func note(_ change: (inout FetchProgress) -> Void) {
    change(&progress)
    let raw = progress.raw(of: trace?.fetch ?? 0)
    published.store(raw)
    trace?.note(raw)
  }

  /// Records that the fetch needs a conversion, for the first waiter.
  func noteConversion(_ turn: Duration) {
    waiters.inOrder.first { $0.isOpen }?.noteConversion(turn)
  }

  /// Records that the fetch waits for a connection.
  mutating func beginWait(for awaited: FetchProgress.Awaited, at now: MonotonicInstant) {
    note { ($0.awaited, $0.waitingSince) = (awaited, now) }
  }

  /// Records the end of the wait, if there was one.
  mutating func endWait(at now: MonotonicInstant) {
    note { progress in
      guard let since = progress.waitingSince.take() else { return }
      progress.timing.wait = (progress.timing.wait ?? .zero) + since.duration(to: now)
    }
  }

  mutating func join(_ waiter: FetchWaiter) -> JoinResult {
    // A fetch whose waiters were all cancelled counts as over.
    guard !isOver, waiters.isEmpty || isAwaited else { return .late }
    waiters.add(waiter)
    if let trace = waiter.trace { self.trace = trace }
    return .waits
  }

  /// Records that a waiter was cancelled. ``leave(_:)`` removes it later.
  mutating func markCancelled() {
    absent += 1
  }

  /// Removes a cancelled waiter.
  ///
  /// - Returns: whether it was the last one.
  mutating func leave(_ waiter: FetchWaiter) -> Bool {
    guard !isOver else { return false }
    waiters.remove(waiter)
    absent -= 1
    return waiters.isEmpty
  }

  /// Ends the tracker.
  ///
  /// - Returns: the waiters in the order in which they joined; empty when the tracker had already
  ///   ended.
  mutating func end(with file: StoredFile? = nil) -> [FetchWaiter] {
    guard !isOver else { return [] }
    isOver = true
    if let file { note { $0.type = file.type } }
    defer { waiters = FetchWaiters() }
    return waiters.inOrder
  }
}
