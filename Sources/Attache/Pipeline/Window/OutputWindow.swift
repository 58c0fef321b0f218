/// The window between the reader, the threads that decide, and the writer. It holds the lines in
/// output order and limits undecided payloads and bytes.
///
/// In ordered mode, a line is written when every earlier one has been written; in unordered mode,
/// as soon as it is decided. The reader waits while the window is full; deciding never waits. A
/// payload is decided once: later decisions are rejected and counted.
///
/// An overlong line enters the window piece by piece. In ordered mode, nothing is written between
/// its pieces, because no later line is read before its end. In unordered mode, it waits until
/// every line before it is decided, so that no line has to wait for the end of a line whose
/// producer is slow. The same holds for a last line without a line ending, because nothing may
/// follow it.
final class OutputWindow: Sendable {
  struct Book {
    var state: WindowState
    /// The condition that the reader waits for, if any.
    var readerNeed: WindowState.Need?
    /// Writes an entry on the thread that decides it; nil if the writer writes all.
    var direct: DirectWriter?

    /// Returns whether to wake the reader after a change, and marks it as awake.
    mutating func endsReaderWait(_ places: (@Sendable () -> Int)?) -> Bool {
      guard let need = readerNeed, state.satisfies(need, places: places) else { return false }
      readerNeed = nil
      return true
    }
  }

  /// Writes an entry if the output takes it without waiting.
  struct DirectWriter: Sendable {
    /// The maximum number of bytes.
    var maximum: Int
    /// Returns whether the entry is written; if not, none of it.
    var write: @Sendable (WindowEntry) -> Bool
  }

  /// The duration of ``gather()``. The reader takes about eight lines from a fast producer in this
  /// time. Without it, waking the writer costs the reader a tenth of its processor time.
  private static let gathering = Duration.microseconds(100)

  let limits: WindowLimits
  private let clock: any DeadlineClock
  private let places: (@Sendable () -> Int)?
  /// The writer is the receiver.
  let book: Mailbox<Book>
  private let room: any WakeSignal
  private let work: any WakeSignal

  /// - Parameter places: returns how many payloads the work behind the window permits to be
  ///   undecided at the moment; nil for no such limit. Called under the lock. If the number may have
  ///   risen although no payload was decided, call ``lookForPlaces()``.
  /// - Throws: ``SystemError`` if no file descriptor is available.
  init(
    limits: WindowLimits, clock: any DeadlineClock, machine: any Machine = SystemMachine(), places: (@Sendable () -> Int)? = nil
  ) throws(SystemError) {
    (self.limits, self.places) = (limits, places)
    self.clock = clock
    room = try machine.makeWakeSignal()
    let work = try machine.makeWakeSignal()
    self.work = work
    book = Mailbox(Book(state: WindowState(limits: limits))) { work.ring() }
  }

  // MARK: - The reader's side

  /// Appends decided bytes, after waiting for space. Only the reader's thread may call it.
  ///
  /// - Parameters:
  ///   - need: the condition to wait for, ``WindowState/Need/room`` or ``WindowState/Need/quiet``.
  ///   - since: since when the bytes have waited, if they have.
  /// - Returns: since when they have waited, if they have and there is a report.
  @discardableResult
  func append(
    _ segment: Segment, for account: WindowEntry.Account, when need: WindowState.Need = .room, since: MonotonicInstant? = nil
  ) -> MonotonicInstant? {
    whenSatisfied(need, since: since) { state, now, waited in state.append(segment, for: account, at: now, waited: waited) }.since
  }

  /// Reserves an entry for a candidate, after waiting for a free job and for space. Only the
  /// reader's thread may call it.
  ///
  /// - Parameters:
  ///   - jobs: the number of payloads in the line to decide.
  ///   - need: the condition to wait for, as in ``append(_:for:when:since:)``, instead of a free
  ///     job.
  ///   - since: since when the line has waited, if it has.
  /// - Returns: the ticket, whose deadline counts from now; nil if no further candidate may start.
  func reserve(line: Int, bytes: Segment, jobs: Int = 1, when need: WindowState.Need? = nil, since: MonotonicInstant? = nil)
    -> WindowTicket?
  {
    whenSatisfied(need ?? .job(bytes: bytes.count, jobs: jobs), since: since) { state, now, waited in
      state.reserve(line: line, bytes: bytes, jobs: jobs, at: now, waited: waited)
    }.result
  }

  /// Records that no line will follow. Only the reader's thread may call it.
  func finish() {
    change { $0.finish() }
  }

  // MARK: - Any thread

  /// Decides a candidate. If no other line waits, and the output takes the line at once, it is written
  /// on this thread: to wake the writer would take longer.
  ///
  /// - Returns: whether this was the first decision; a later one changes nothing.
  @discardableResult
  func decide(_ ticket: WindowTicket, _ decision: Decision) -> Bool {
    let now = clock.now
    let output = decision.output(of: ticket.bytes)
    let record = ReportRecord(
      line: ticket.line, decision: decision.reported(isReporting: limits.isReporting), elapsed: ticket.placed.duration(to: now),
      status: decision.status)
    let (decided, lent) = changeBook { book in
      let decided = book.state.decide(ticket, output, record, onRelease: decision.onRelease, at: now)
      return (decided, book.direct.flatMap { direct in book.state.lend(direct.maximum).map { (entry: $0, direct: direct) } })
    }
    if decided != .kept { decision.onRelease?() }
    if let lent {
      let isWritten = lent.direct.write(lent.entry)
      change { $0.takeBack(isWritten: isWritten) }
    }
    return decided != .refused
  }

  /// Prevents further candidates: a pending reservation and all later ones return nil. Candidates
  /// in progress are decided as usual.
  func stop() {
    change { $0.stop() }
  }

  /// Lets the reader go on if there are more places by now.
  func lookForPlaces() {
    change { _ in }
  }

  /// Adds to the bytes that wait to be written to the report; a negative number subtracts written
  /// ones. They take space like decided lines.
  func holdForReport(_ bytes: Int) {
    change { $0.holdForReport(bytes) }
  }

  // MARK: - The writer's side

  /// Sets what writes an entry on the thread that decides it; nil for nothing.
  func setDirectWriter(_ direct: DirectWriter?) {
    changeBook { $0.direct = direct }
  }

  /// Fills the empty `batch` with entries that may be written, and waits for them.
  ///
  /// - Returns: false if there are none and there will be none.
  func take(into batch: inout [WindowEntry]) -> Bool {
    book.take(waitingFor: work) { book in
      switch book.state.take(into: &batch) {
      case .places: true
      case .finished: false
      case .nothing: nil
      }
    }
  }

  /// Waits while lines gather. During this wait, no thread needs to wake the writer.
  func gather() {
    work.wait(until: clock.now.advanced(by: Self.gathering))
  }

  /// Frees the space of written entries.
  func release(_ batch: [WindowEntry]) {
    change { $0.release(batch) }
  }

  /// Discards everything that is decided, now and later, and unblocks the reader, because nothing
  /// more will be written.
  func discard() {
    for place in change({ $0.discard() }) { place.onRelease?() }
  }

  // MARK: - Waiting and waking

  /// Runs `action` under the lock as soon as its condition holds. Only a line that waits, and only
  /// if there is a report, costs a look at the clock.
  ///
  /// - Parameters:
  ///   - since: since when the line has waited, if it has.
  ///   - action: its arguments are the state, the present and how long the line has waited.
  private func whenSatisfied<Result: Sendable>(
    _ need: WindowState.Need, since: MonotonicInstant?,
    _ action: @Sendable (inout WindowState, _ now: MonotonicInstant, _ waited: Duration) -> Result
  ) -> (result: Result, since: MonotonicInstant?) {
    var since = since
    while true {
      let (result, waiting): (Result?, MonotonicInstant?) = book.change { [clock, limits, since, places] book in
        guard book.state.satisfies(need, places: places) else {
          book.readerNeed = need
          return ((nil, since ?? (limits.isReporting ? clock.now : nil)), isNews: false)
        }
        let now = clock.now
        let result = action(&book.state, now, since?.duration(to: now) ?? .zero)
        book.readerNeed = nil
        return ((result, since), isNews: book.state.hasWork)
      }
      since = waiting
      if let result { return (result, since) }
      room.wait(until: nil)
    }
  }

  /// Changes the state under the lock, then wakes the threads that the change concerns.
  private func change<Result: Sendable>(_ action: @Sendable (inout WindowState) -> Result) -> Result {
    changeBook { action(&$0.state) }
  }

  private func changeBook<Result: Sendable>(_ action: @Sendable (inout Book) -> Result) -> Result {
    let (result, wakesReader) = book.change { book in
      let result = action(&book)
      return ((result, book.endsReaderWait(places)), isNews: book.state.hasWork)
    }
    if wakesReader { room.ring() }
    return result
  }
}
