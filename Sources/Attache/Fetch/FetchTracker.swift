/// The progress and the waiter of a fetch. On the loop only.
struct FetchTracker {
  private(set) var progress = FetchProgress()
  private var waiter: FetchWaiter?
  private var isCancelled = false
  private var isOver = false

  /// Whether the waiter was not cancelled.
  var isAwaited: Bool { waiter != nil && !isCancelled }

  /// The payloads of the waiter.
  var payloads: [UInt64] { waiter?.payloads ?? [] }

  /// The deadline of the waiter; nil when there is none.
  var deadline: MonotonicInstant? { waiter?.deadline }

  /// Updates the progress of the fetch.
  mutating func note(_ change: (inout FetchProgress) -> Void) {
    change(&progress)
    if let trace = waiter?.trace { trace.note(progress.raw(of: trace.fetch)) }
  }

  /// Records that the fetch needs a conversion.
  func noteConversion(_ turn: Duration) {
    waiter?.noteConversion(turn)
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

  mutating func begin(_ waiter: FetchWaiter) {
    self.waiter = waiter
  }

  /// Records that the waiter was cancelled. ``leave()`` removes it later.
  mutating func markCancelled() {
    isCancelled = true
  }

  /// Removes the cancelled waiter.
  ///
  /// - Returns: false when the tracker has ended.
  mutating func leave() -> Bool {
    guard !isOver else { return false }
    waiter = nil
    return true
  }

  /// Ends the tracker.
  ///
  /// - Returns: the waiter, whose record has the progress; nil when there is none, or when the
  ///   tracker had already ended.
  mutating func end(with file: StoredFile? = nil) -> FetchWaiter? {
    guard !isOver else { return nil }
    isOver = true
    if let file { note { $0.type = file.type } }
    waiter?.follow(.ended(progress))
    return waiter.take()
  }
}
