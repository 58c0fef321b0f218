/// Records which reasons were reported and which payloads came since. Each reason is reported at
/// its first payload, and then once an hour as long as payloads come.
struct ExplanationLedger {
  private struct Entry {
    /// The time when the reason was last reported.
    var told: MonotonicInstant
    /// The payloads since then; nil if there are none.
    var again: Explanation?
  }

  /// The minimum time between two reports of a reason.
  static let interval = Duration.seconds(3_600)

  private var entries: [Reason: Entry] = [:]
  private var waiting: [Explanation] = []

  /// Records a payload that fell back.
  ///
  /// - Parameter explain: creates the explanation. It is called for the first payload of its
  ///   reason, and for the first since the reason was reported.
  /// - Returns: whether ``nextDue`` has changed.
  mutating func add(_ reason: Reason, at now: MonotonicInstant, _ explain: () -> Explanation) -> Bool {
    guard let entry = entries[reason] else {
      entries[reason] = Entry(told: now)
      waiting.append(explain())
      return true
    }
    guard entry.again == nil else {
      entries[reason]?.again?.count += 1
      return false
    }
    var again = explain()
    again.isRepeated = true
    entries[reason]?.again = again
    return true
  }

  /// Removes and returns the explanations that are due now.
  mutating func takeDue(at now: MonotonicInstant) -> [Explanation] {
    defer { waiting = [] }
    var due: [Explanation] = []
    for (reason, entry) in entries {
      guard let again = entry.again, entry.told.advanced(by: Self.interval) <= now else { continue }
      due.append(again)
      entries[reason] = Entry(told: now)
    }
    return waiting + due.sorted { ($0.line, $0.reason.rawValue) < ($1.line, $1.reason.rawValue) }
  }

  /// The time when the next recorded explanation is due; nil if there is none.
  ///
  /// This is a plain loop, because the first use of a lazy sequence allocates memory in the Swift
  /// runtime, which ends the process by SIGSEGV when there is none.
  var nextDue: MonotonicInstant? {
    if !waiting.isEmpty { return .distantPast }
    var next: MonotonicInstant?
    for entry in entries.values where entry.again != nil {
      let due = entry.told.advanced(by: Self.interval)
      next = min(next ?? due, due)
    }
    return next
  }
}
