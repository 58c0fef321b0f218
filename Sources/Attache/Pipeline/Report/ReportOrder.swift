/// The report's data about one entry, available after the entry was passed to `write`.
struct ReportItem: Sendable {
  /// The number of the decision.
  let decision: UInt64
  let account: WindowEntry.Account
  /// The lateness of the entry's first byte, and so of every line in it.
  let lateness: Duration
  /// How long every line in it waited for its place in the window.
  var waited = Duration.zero

  /// The space that it takes while it waits, in bytes.
  var charge: Int {
    switch account {
    case .none: 0
    case .passing(_, _, let kinds): 64 + kinds.count
    case .payload(let record): record.media.reduce(256) { $0 + 256 + $1.url.utf8.count }
    }
  }
}

/// Restores decision order for items that arrive in write order.
///
/// A record needs its lateness, which is known when the line is passed to `write`, but the report
/// is in decision order. So a record waits here for records that were decided before it and are not
/// written yet. Their lines are in the window, which limits their number.
struct ReportOrder {
  private var waiting: [UInt64: ReportItem] = [:]
  private var next: UInt64 = 0

  mutating func add(_ item: ReportItem) {
    waiting[item.decision] = item
  }

  /// Removes and returns the next item in decision order, if it has arrived.
  mutating func popNext() -> ReportItem? {
    guard let item = waiting.removeValue(forKey: next) else { return nil }
    next += 1
    return item
  }

  /// Removes and returns all items that wait for one that will not arrive.
  mutating func popRest() -> [ReportItem] {
    defer { waiting = [:] }
    return waiting.values.sorted { $0.decision < $1.decision }
  }
}
