/// What the report is told about one place once it was handed to `write`.
struct ReportItem: Sendable {
  /// The number of the decision.
  let decision: UInt64
  let account: WindowEntry.Account
  /// Of the place's first byte, and so of every line in it.
  let lateness: Duration

  /// What it takes up while it waits, in bytes.
  var charge: Int {
    switch account {
    case .none: 0
    case .passing(_, _, let kinds): 64 + kinds.count
    case .payload(let record): record.media.reduce(256) { $0 + 256 + $1.url.utf8.count }
    }
  }
}

/// Brings what comes in the order written back into the order decided.
///
/// A record needs its lateness, which is known when the line is handed to `write`; the report is in
/// the order decided. So a record waits here for those that were decided before it and are not
/// written yet: they stand in the window, which bounds them.
struct ReportOrder {
  private var waiting: [UInt64: ReportItem] = [:]
  private var next: UInt64 = 0

  mutating func add(_ item: ReportItem) {
    waiting[item.decision] = item
  }

  /// Takes out the next item in the order decided, if it has come.
  mutating func popNext() -> ReportItem? {
    guard let item = waiting.removeValue(forKey: next) else { return nil }
    next += 1
    return item
  }

  /// Takes out all that still wait for one that will not come any more.
  mutating func popRest() -> [ReportItem] {
    defer { waiting = [:] }
    return waiting.values.sorted { $0.decision < $1.decision }
  }
}
