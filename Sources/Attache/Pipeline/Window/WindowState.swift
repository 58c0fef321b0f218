/// The state of the window: its entries, their order, and what may happen next. It makes the
/// decisions; ``OutputWindow`` carries them out.
struct WindowState {
  /// A condition that the reader waits for.
  enum Need: Sendable {
    /// Space for decided lines.
    case room
    /// Space for one more undecided line with this number of bytes and payloads.
    case job(bytes: Int, jobs: Int = 1)
    /// Every earlier line is decided.
    case quiet
  }

  /// The result of a decision.
  enum Decided {
    case kept
    /// This was the first decision, but the line will not be written.
    case discarded
    /// The ticket was already decided.
    case refused
  }

  /// The result for the writer.
  enum Taken {
    case places, nothing, finished
  }

  /// The maximum number of entries that the writer takes at a time. Each needs up to three ranges,
  /// and `writev` accepts 1,024 (IOV_MAX).
  static let maximumPlaces = 340

  let limits: WindowLimits
  /// In ordered mode, all entries from the first unwritten one; in unordered mode, the decided
  /// ones.
  private var places = Ring<WindowEntry>()
  /// The number of entries at the front that are decided and not yet taken by the writer.
  private var readyCount = 0
  /// The number of the first entry, in ordered mode.
  private var firstNumber: UInt64 = 0
  private var nextNumber: UInt64 = 0
  private var undecided: Set<UInt64> = []
  private var undecidedBytes = 0
  private var undecidedJobs = 0
  /// The number of decided bytes that are not written, including those that the writer and the
  /// report hold.
  private(set) var heldBytes = 0
  /// The number of decided bytes that wait only for the writer.
  private var readyBytes = 0

  /// Whether the writer holds entries that it has taken.
  private var isTaken = false
  /// Whether the first entry is lent. Until it comes back, the writer finds nothing.
  private var isLent = false

  private(set) var isStopped = false
  private(set) var isFinished = false
  private(set) var isDiscarding = false
  /// The number of decisions for a line that was already decided.
  private(set) var refusedDecisions = 0

  init(limits: WindowLimits) {
    self.limits = limits
  }

  /// The number of undecided payloads.
  var undecidedCount: Int { undecidedJobs }

  /// Returns whether the reader may continue.
  ///
  /// - Parameter places: returns how many payloads may be undecided at the moment; nil for no such
  ///   limit.
  func satisfies(_ need: Need, places: (() -> Int)? = nil) -> Bool {
    if isDiscarding { return true }
    let hasRoom = heldBytes <= limits.windowBytes && readyBytes <= limits.backlogBytes
    switch need {
    case .room: return hasRoom
    case .quiet: return hasRoom && undecided.isEmpty
    case .job(let bytes, let jobs):
      // A line with more payloads than there are jobs is decided alone.
      let hasJob =
        undecided.isEmpty
        || (undecidedJobs + jobs <= limits.jobs && undecidedBytes + bytes <= limits.undecidedBytes
          && undecidedJobs + jobs <= places?() ?? .max)
      return isStopped || (hasRoom && hasJob)
    }
  }

  // MARK: - The reader's side

  /// Appends decided bytes.
  mutating func append(_ segment: Segment, for account: WindowEntry.Account, at now: MonotonicInstant, waited: Duration = .zero) {
    guard !isDiscarding else { return }
    push(WindowEntry(output: .whole(segment), account: account, deadline: now.advanced(by: limits.budget), waited: waited))
    advance(at: now)
  }

  /// Reserves an entry for a candidate; nil if no further one may start.
  mutating func reserve(line: Int, bytes: Segment, jobs: Int = 1, at now: MonotonicInstant, waited: Duration = .zero) -> WindowTicket? {
    guard !isStopped, !isDiscarding else { return nil }
    let ticket = WindowTicket(
      number: nextNumber, line: line, bytes: bytes, jobs: jobs, waited: waited, placed: now, deadline: now.advanced(by: limits.budget))
    undecided.insert(ticket.number)
    undecidedJobs += jobs
    undecidedBytes += bytes.count
    if limits.isOrdered {
      push(WindowEntry(output: nil, account: .none, deadline: ticket.deadline))
    } else {
      nextNumber += 1
    }
    return ticket
  }

  /// Records that nothing more will be appended or reserved.
  mutating func finish() { isFinished = true }

  /// Prevents further candidates.
  mutating func stop() { isStopped = true }

  // MARK: - Deciding

  /// Records a decision about a ticket.
  mutating func decide(
    _ ticket: WindowTicket, _ output: WindowEntry.Output, _ record: ReportRecord, onRelease: (@Sendable () -> Void)? = nil,
    at now: MonotonicInstant
  ) -> Decided {
    guard undecided.remove(ticket.number) != nil else {
      refusedDecisions += 1
      return .refused
    }
    undecidedBytes -= ticket.bytes.count
    undecidedJobs -= ticket.jobs
    guard !isDiscarding else { return .discarded }
    let place = WindowEntry(
      output: output, account: .payload(record), deadline: ticket.deadline, waited: ticket.waited, onRelease: onRelease)
    if limits.isOrdered {
      places[Int(ticket.number - firstNumber)] = place
      heldBytes += place.charge
    } else {
      push(place)
    }
    advance(at: now)
    return .kept
  }

  // MARK: - The writer's side

  /// Moves entries that may be written to the end of `batch`.
  mutating func take(into batch: inout [WindowEntry]) -> Taken {
    guard !isLent else { return .nothing }
    while readyCount > 0, batch.count < Self.maximumPlaces, let place = places.popFirst() {
      batch.append(place)
      readyCount -= 1
      if limits.isOrdered { firstNumber += 1 }
    }
    isTaken = !batch.isEmpty
    if isTaken { return .places }
    return isOver ? .finished : .nothing
  }

  /// Whether to wake the writer: there are entries to write, or there will be none.
  var hasWork: Bool { !isLent && (readyCount > 0 || isOver) }

  private var isOver: Bool { isDiscarding || (isFinished && undecided.isEmpty && places.isEmpty) }

  /// Lends the first entry to the thread that has just decided it, in the writer's place: nothing
  /// waits before or after it, and the writer holds nothing.
  ///
  /// - Parameter maximum: the maximum number of its bytes.
  mutating func lend(_ maximum: Int) -> WindowEntry? {
    guard readyCount == 1, places.count == 1, undecided.isEmpty, !isTaken, !isLent, let output = places[0].output, output.count <= maximum
    else { return nil }
    isLent = true
    return places[0]
  }

  /// Takes the lent entry back. One that was not written waits for the writer.
  mutating func takeBack(isWritten: Bool) {
    isLent = false
    guard isWritten, let place = places.popFirst() else { return }
    readyCount -= 1
    if limits.isOrdered { firstNumber += 1 }
    release([place])
  }

  /// Subtracts written entries from the counts.
  mutating func release(_ batch: [WindowEntry]) {
    isTaken = false
    let charge = batch.reduce(0) { $0 + $1.charge }
    heldBytes -= charge
    readyBytes -= charge
  }

  /// Adds `bytes` that the report holds; a negative number subtracts written ones.
  mutating func holdForReport(_ bytes: Int) { heldBytes += bytes }

  /// Discards everything that is decided, now and later, because it will not be written.
  ///
  /// - Returns: the discarded entries.
  mutating func discard() -> [WindowEntry] {
    isDiscarding = true
    readyCount = 0
    var dropped: [WindowEntry] = []
    while let place = places.popFirst() { dropped.append(place) }
    return dropped
  }

  // MARK: - Places

  private mutating func push(_ place: WindowEntry) {
    if place.output != nil { heldBytes += place.charge }
    if limits.isOrdered { nextNumber += 1 }
    places.append(place)
  }

  /// Marks the entries at the front that now wait only for the writer.
  private mutating func advance(at now: MonotonicInstant) {
    while readyCount < places.count, places[readyCount].output != nil {
      places[readyCount].ready = now
      readyBytes += places[readyCount].charge
      readyCount += 1
    }
  }
}

/// The limits of the window, and its order.
struct WindowLimits: Sendable {
  /// The maximum number of undecided payloads.
  var jobs = 256
  /// The maximum number of decided bytes that wait for an earlier line.
  var windowBytes = 8 << 20
  /// Whether lines are written in input order; otherwise as soon as they are decided.
  var isOrdered = true
  /// The time from a line's entry into the window to its deadline.
  var budget: Duration = .seconds(30)
  /// Whether there is a report, so that the kind of each passing line must be stored.
  var isReporting = false

  /// The maximum number of bytes that wait only for the writer. More bytes would only be pushed out
  /// of the processor's cache. The limit keeps the process small if the consumer is slower than the
  /// producer.
  var backlogBytes: Int { min(windowBytes, 1 << 20) }

  /// The maximum number of bytes of undecided lines. A line may have 1 MiB, so the number of jobs
  /// alone does not limit memory. APNs accepts payloads of 4,096 bytes, so lines that can be sent
  /// never reach this limit.
  var undecidedBytes: Int { max(windowBytes, jobs * (8 << 10)) }
}

/// The reservation of a line with candidates in the window, used to deliver its decision.
struct WindowTicket: Sendable {
  let number: UInt64
  /// The number of the line, counted from 1.
  let line: Int
  /// The line with its ending, in its own memory, followed by the reader's padding.
  let bytes: Segment
  /// The number of payloads in the line to decide.
  var jobs = 1
  /// How long the line waited for the reservation. Zero if there is no report.
  var waited = Duration.zero
  /// The time of the reservation, when its budget starts.
  let placed: MonotonicInstant
  /// The time by which its line must be passed to `write`.
  let deadline: MonotonicInstant
}

/// The entry of a line, or of a run of passing lines, in the window.
struct WindowEntry: Sendable {
  /// The bytes to write.
  enum Output: Sendable {
    case whole(Segment)
    /// A line with a member inserted before the byte at `at`.
    case spliced(Segment, member: Segment, at: Int)

    /// The number of bytes.
    var count: Int {
      switch self {
      case .whole(let segment): segment.count
      case .spliced(let segment, let member, _): segment.count + member.count
      }
    }
  }

  /// What the entry contributes to the report and the summary.
  enum Account: Sendable {
    /// A further piece of an overlong line. The first piece is counted for the whole line.
    case none
    /// `count` passing lines, numbered from `first`. `reasons` has one element for each if there is a
    /// report; otherwise it is empty.
    case passing(first: Int, count: Int, reasons: [Reason])
    /// A candidate, or a passing line with a record of its own; its lateness is not known yet.
    case payload(ReportRecord)
  }

  /// The cost of an entry besides its bytes, in bytes: the entry itself, the headers of its blocks
  /// and its part of the report.
  static let overhead = 256

  /// Nil while the line is undecided.
  var output: Output?
  var account: Account
  /// The time by which the line must be passed to `write`.
  var deadline: MonotonicInstant
  /// How long the line waited for this entry. Zero if there is no report.
  var waited = Duration.zero
  /// Called when the line has been written, or will never be.
  var onRelease: (@Sendable () -> Void)?
  /// The time from which the line waited only for the writer.
  var ready: MonotonicInstant = .distantPast

  /// The space in the window, in bytes.
  var charge: Int {
    Self.overhead + (output?.count ?? 0)
  }
}
