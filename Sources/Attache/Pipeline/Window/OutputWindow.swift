internal import Synchronization

/// The window between the reader, whoever decides, and the writer: lines in the order in which they
/// are to leave, bounded in jobs and bytes.
///
/// Ordered, a line leaves when every earlier one has left; unordered, as soon as it is decided. The
/// reader waits while the window is full; deciding never waits. A payload is decided once: what
/// comes later is refused and counted.
///
/// An overlong line takes its place piece by piece. Ordered, nothing comes between its pieces,
/// since no later line is read before its end. Unordered, it waits for every line before it to be
/// decided, so that none of them has to wait for the end of a line whose producer is slow. So does
/// a last line without an ending, which nothing may follow.
final class OutputWindow: Sendable {
  private struct Book {
    var state: WindowState
    /// What the reader sleeps for, if it does.
    var readerNeed: WindowState.Need?
    var isWriterAsleep = false

    /// Whom the change wakes up; they are awake from now on.
    mutating func sleepersToWake() -> (reader: Bool, writer: Bool) {
      let reader = readerNeed.map { state.satisfies($0) } ?? false
      if reader { readerNeed = nil }
      let writer = isWriterAsleep && state.hasWork
      if writer { isWriterAsleep = false }
      return (reader, writer)
    }
  }

  let limits: WindowLimits
  private let clock: any DeadlineClock
  private let book: Mutex<Book>
  private let room: any WakeSignal
  private let work: any WakeSignal

  /// - Throws: ``SystemError`` when no descriptor is to be had.
  init(limits: WindowLimits, clock: any DeadlineClock) throws(SystemError) {
    self.limits = limits
    self.clock = clock
    book = Mutex(Book(state: WindowState(limits: limits)))
    room = try clock.machineBehind.makeWakeSignal()
    work = try clock.machineBehind.makeWakeSignal()
  }

  /// How many payloads are undecided, and how many decided bytes are not written.
  var load: (undecided: Int, heldBytes: Int) {
    book.withLock { ($0.state.undecidedCount, $0.state.heldBytes) }
  }

  /// Whether the reader waits for room or for a job.
  var isReaderWaiting: Bool {
    book.withLock { $0.readerNeed != nil }
  }

  /// How many decisions came for a line that had been decided.
  var refusedDecisions: Int {
    book.withLock { $0.state.refusedDecisions }
  }

  // MARK: - The reader's side

  /// Adds decided bytes behind everything, waiting for room first. Called by the reader's thread.
  ///
  /// - Parameter need: what has to be so before, ``WindowState/Need/room`` or
  ///   ``WindowState/Need/quiet``.
  func append(_ segment: Segment, for account: WindowEntry.Account, when need: WindowState.Need = .room) {
    whenSatisfied(need) { state in state.append(segment, for: account, at: clock.now) }
  }

  /// Gives a candidate its place, waiting for a free job and for room. Called by the reader's
  /// thread.
  ///
  /// - Parameters:
  ///   - jobs: how many payloads of the line are to be decided.
  ///   - need: as for ``append(_:for:when:)``, in the place of a free job.
  /// - Returns: the place, whose clock runs from now; nil when no further candidate is to be
  ///   started.
  func reserve(line: Int, bytes: Segment, jobs: Int = 1, when need: WindowState.Need? = nil) -> WindowTicket? {
    whenSatisfied(need ?? .job(bytes: bytes.count, jobs: jobs)) { state in
      state.reserve(line: line, bytes: bytes, jobs: jobs, at: clock.now)
    }
  }

  /// Says that no line will follow. Called by the reader's thread.
  func finish() {
    change { $0.finish() }
  }

  // MARK: - Any thread

  /// Decides a candidate.
  ///
  /// - Returns: whether this was the first decision; a later one changes nothing.
  @discardableResult
  func decide(_ ticket: WindowTicket, _ decision: Decision) -> Bool {
    let now = clock.now
    let output = decision.output(of: ticket.bytes)
    let record = ReportRecord(
      line: ticket.line, outcome: decision.outcome, reason: decision.reason, dialect: decision.dialect,
      elapsed: ticket.placed.duration(to: now),
      media: limits.isReporting ? decision.media : [], omitted: decision.omitted)
    let decided = change { $0.decide(ticket, output, record, onRelease: decision.onRelease, at: now) }
    if decided != .kept { decision.onRelease?() }
    return decided != .refused
  }

  /// Starts no further candidate: one that waits for its place, and all that come, get none. What
  /// is in flight is decided as ever.
  func stop() {
    change { $0.stop() }
  }

  /// Counts bytes that wait to be written to the report; with a negative number, that were. They
  /// take room like decided lines.
  func holdForReport(_ bytes: Int) {
    change { $0.holdForReport(bytes) }
  }

  // MARK: - The writer's side

  /// Fills the empty `batch` with what may be written, and waits for it.
  ///
  /// - Returns: false when there is nothing and will be nothing.
  func take(into batch: inout [WindowEntry]) -> Bool {
    while true {
      let taken = book.withLock { book in
        let taken = book.state.take(into: &batch)
        book.isWriterAsleep = taken == .nothing
        return taken
      }
      switch taken {
      case .places: return true
      case .finished: return false
      case .nothing: work.wait(until: nil)
      }
    }
  }

  /// Gives back the room of what was written.
  func release(_ batch: [WindowEntry]) {
    change { $0.release(batch) }
  }

  /// Drops everything that is decided, now and from now on, and lets the reader run: nobody will
  /// write any more.
  func discard() {
    for place in change({ $0.discard() }) { place.onRelease?() }
  }

  // MARK: - Waiting and waking

  /// Runs `action` under the lock as soon as there is what it needs.
  private func whenSatisfied<Result: Sendable>(_ need: WindowState.Need, _ action: @Sendable (inout WindowState) -> Result) -> Result {
    while true {
      let done: (result: Result, wakesWriter: Bool)? = book.withLock { book in
        guard book.state.satisfies(need) else {
          book.readerNeed = need
          return nil
        }
        let result = action(&book.state)
        return (result, book.sleepersToWake().writer)
      }
      guard let done else {
        room.wait(until: nil)
        continue
      }
      if done.wakesWriter { work.ring() }
      return done.result
    }
  }

  /// Changes the state under the lock, and wakes whom the change concerns after it.
  private func change<Result: Sendable>(_ action: @Sendable (inout WindowState) -> Result) -> Result {
    let (result, wake) = book.withLock { book in
      let result = action(&book.state)
      return (result, book.sleepersToWake())
    }
    if wake.reader { room.ring() }
    if wake.writer { work.ring() }
    return result
  }
}
