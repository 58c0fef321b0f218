/// Which reasons were told, and what has come since: each is told at its first payload, and after
/// that once an hour, as long as payloads come.
struct ExplanationLedger {
  private struct Entry {
    /// When the reason was told last.
    var told: MonotonicInstant
    /// What has come since; nil is nothing.
    var again: Explanation?
  }

  /// How long a reason is not told again.
  static let interval = Duration.seconds(3_600)

  private var entries: [Reason: Entry] = [:]
  private var waiting: [Explanation] = []

  /// Takes a payload that fell back.
  ///
  /// - Parameter explain: makes the explanation, which is asked for when it is the first of its
  ///   reason, or the first since the reason was told.
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

  /// Takes out what is to be told now.
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

  /// When something is to be told that has come by now; nil when nothing is.
  var nextDue: MonotonicInstant? {
    if !waiting.isEmpty { return .distantPast }
    return entries.values.lazy.filter { $0.again != nil }.map { $0.told.advanced(by: Self.interval) }.min()
  }
}
