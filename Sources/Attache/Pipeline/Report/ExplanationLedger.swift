/// Records which reasons were reported and which payloads came since. Each reason is reported once
/// with each detail, at its first payload, and then once an hour as long as payloads come.
struct ExplanationLedger {
  private struct Example: Hashable {
    var reason: Reason
    var detail: ExplanationDetail?
  }

  private struct Entry {
    /// The time when the reason was last reported.
    var shown: MonotonicInstant
    /// The payloads since then; nil if there are none.
    var again: Explanation?
  }

  /// The minimum time between two reports of a reason.
  static let interval = Duration.seconds(3_600)

  /// The maximum number of details of a reason. Strangers choose details, so the others share one
  /// example.
  static let maximumDetails = 8

  private var entries: [Example: Entry] = [:]
  /// The number of entries with a detail, by reason.
  private var details: [Reason: Int] = [:]
  private var waiting: [Explanation] = []
  /// The entry of the last payload: most payloads of a producer are alike, and a comparison is cheaper
  /// than a hash.
  private var last: (example: Example, index: [Example: Entry].Index)?

  /// Records a payload that fell back.
  ///
  /// - Parameters:
  ///   - detail: what distinguishes it from other payloads with the reason.
  ///   - explain: creates the explanation. It is called for the first payload with the reason and the
  ///     detail, and for the first since they were reported.
  /// - Returns: whether ``nextDue`` has changed.
  mutating func add(
    _ reason: Reason, _ detail: ExplanationDetail? = nil, at now: MonotonicInstant, _ explain: () -> Explanation
  ) -> Bool {
    if let last, last.example.reason == reason, last.example.detail == detail, entries.values[last.index].again != nil {
      entries.values[last.index].again?.count += 1
      return false
    }
    let example = example(reason, detail)
    guard let index = entries.index(forKey: example) else {
      last = nil
      if example.detail != nil { details[reason, default: 0] += 1 }
      entries[example] = Entry(shown: now)
      waiting.append(explain())
      return true
    }
    last = (example, index)
    guard entries.values[index].again == nil else {
      entries.values[index].again?.count += 1
      return false
    }
    var again = explain()
    again.isRepeated = true
    entries.values[index].again = again
    return true
  }

  private func example(_ reason: Reason, _ detail: ExplanationDetail?) -> Example {
    let example = Example(reason: reason, detail: detail)
    guard details[reason, default: 0] >= Self.maximumDetails else { return example }
    return entries[example] == nil ? Example(reason: reason) : example
  }

  /// Removes and returns the explanations that are due now.
  mutating func takeDue(at now: MonotonicInstant) -> [Explanation] {
    defer { waiting = [] }
    var due: [Explanation] = []
    for (example, entry) in entries {
      guard let again = entry.again, entry.shown.advanced(by: Self.interval) <= now else { continue }
      due.append(again)
      entries[example] = Entry(shown: now)
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
      let due = entry.shown.advanced(by: Self.interval)
      next = min(next ?? due, due)
    }
    return next
  }
}
