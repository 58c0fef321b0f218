/// The window's book: which places there are, in which order, and what may happen next. It decides;
/// ``OutputWindow`` acts.
struct WindowState {
  /// What the reader waits for.
  enum Need: Sendable {
    /// Room for decided lines.
    case room
    /// Room for one more undecided line of so many bytes and payloads.
    case job(bytes: Int, jobs: Int = 1)
    /// That every line before is decided.
    case quiet
  }

  /// The answer to whoever decides.
  enum Decided {
    case kept
    /// It was the first decision, but nobody will write the line.
    case discarded
    /// The ticket was decided before.
    case refused
  }

  /// The answer to the writer.
  enum Taken {
    case places, nothing, finished
  }

  /// The most places that the writer takes at a time: three vectors each stay within the 1,024 that
  /// `writev` takes (IOV_MAX).
  static let maximumPlaces = 340

  let limits: WindowLimits
  /// Ordered: every place from the first that is unwritten. Unordered: the decided ones.
  private var places = Ring<WindowEntry>()
  /// How many places at the front are decided and not yet seen to be.
  private var readyCount = 0
  /// The number of the first place, when ordered.
  private var firstNumber: UInt64 = 0
  private var nextNumber: UInt64 = 0
  private var nextDecision: UInt64 = 0
  private var undecided: Set<UInt64> = []
  private var undecidedBytes = 0
  private var undecidedJobs = 0
  /// Decided bytes that are not written yet, those that the writer has and those that the report
  /// has included.
  private(set) var heldBytes = 0
  /// Decided bytes that wait for nothing but the writer.
  private var readyBytes = 0

  private(set) var isStopped = false
  private(set) var isFinished = false
  private(set) var isDiscarding = false
  /// Decisions that came for a line that had been decided.
  private(set) var refusedDecisions = 0

  init(limits: WindowLimits) {
    self.limits = limits
  }

  /// How many payloads are undecided.
  var undecidedCount: Int { undecidedJobs }

  /// Whether the reader may go on.
  func satisfies(_ need: Need) -> Bool {
    if isDiscarding { return true }
    let hasRoom = heldBytes <= limits.windowBytes && readyBytes <= limits.backlogBytes
    switch need {
    case .room: return hasRoom
    case .quiet: return hasRoom && undecided.isEmpty
    case .job(let bytes, let jobs):
      // A line with more payloads than there are jobs is decided alone.
      let hasJob = undecided.isEmpty || (undecidedJobs + jobs <= limits.jobs && undecidedBytes + bytes <= limits.undecidedBytes)
      return isStopped || (hasRoom && hasJob)
    }
  }

  // MARK: - The reader's side

  /// Adds decided bytes behind everything.
  mutating func append(_ segment: Segment, for account: WindowEntry.Account, at now: MonotonicInstant) {
    guard !isDiscarding else { return }
    push(decided(WindowEntry(output: .whole(segment), account: account, deadline: now.advanced(by: limits.budget))))
    advance(at: now)
  }

  /// Gives a candidate its place, or nil when no further one is to be started.
  mutating func reserve(line: Int, bytes: Segment, jobs: Int = 1, at now: MonotonicInstant) -> WindowTicket? {
    guard !isStopped, !isDiscarding else { return nil }
    let ticket = WindowTicket(
      number: nextNumber, line: line, bytes: bytes, jobs: jobs, placed: now, deadline: now.advanced(by: limits.budget))
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

  /// Nothing more will be appended or reserved.
  mutating func finish() { isFinished = true }

  /// No further candidate is to be started.
  mutating func stop() { isStopped = true }

  // MARK: - Deciding

  /// Takes a decision about a ticket.
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
    let place = decided(WindowEntry(output: output, account: .payload(record), deadline: ticket.deadline, onRelease: onRelease))
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

  /// Moves what may be written to the end of `batch`.
  mutating func take(into batch: inout [WindowEntry]) -> Taken {
    while readyCount > 0, batch.count < Self.maximumPlaces, let place = places.popFirst() {
      batch.append(place)
      readyCount -= 1
      if limits.isOrdered { firstNumber += 1 }
    }
    if !batch.isEmpty { return .places }
    return isOver ? .finished : .nothing
  }

  /// Whether the writer has something to learn: places to write, or that there will be none.
  var hasWork: Bool { readyCount > 0 || isOver }

  private var isOver: Bool { isDiscarding || (isFinished && undecided.isEmpty && places.isEmpty) }

  /// Takes written places off the books.
  mutating func release(_ batch: [WindowEntry]) {
    let charge = batch.reduce(0) { $0 + $1.charge }
    heldBytes -= charge
    readyBytes -= charge
  }

  /// Counts `bytes` that the report holds, or with a negative number that it has written.
  mutating func holdForReport(_ bytes: Int) { heldBytes += bytes }

  /// Drops everything that is decided, now and from now on: nobody will write it.
  ///
  /// - Returns: the places that were dropped.
  mutating func discard() -> [WindowEntry] {
    isDiscarding = true
    readyCount = 0
    var dropped: [WindowEntry] = []
    while let place = places.popFirst() { dropped.append(place) }
    return dropped
  }

  // MARK: - Places

  private mutating func decided(_ place: WindowEntry) -> WindowEntry {
    if case .none = place.account { return place }
    defer { nextDecision += 1 }
    var place = place
    place.decision = nextDecision
    return place
  }

  private mutating func push(_ place: WindowEntry) {
    if place.output != nil { heldBytes += place.charge }
    if limits.isOrdered { nextNumber += 1 }
    places.append(place)
  }

  /// Moves the front over every place that waits for nothing but the writer.
  private mutating func advance(at now: MonotonicInstant) {
    while readyCount < places.count, places[readyCount].output != nil {
      places[readyCount].ready = now
      readyBytes += places[readyCount].charge
      readyCount += 1
    }
  }
}
