/// The report's data about one entry, available after the entry was passed to `write`.
struct ReportItem: Sendable {
  let account: WindowEntry.Account
  /// The lateness of the entry's first byte, and so of every line in it.
  let lateness: Duration
  /// How long every line in it waited for its place in the window.
  var waited = Duration.zero

  /// The space that it takes while it waits, in bytes.
  var charge: Int {
    switch account {
    case .none: 0
    case .passing(_, _, let reasons): 64 + reasons.count
    case .payload(let record): record.decision.media.reduce(256 + (record.decision.key?.count ?? 0)) { $0 + 256 + $1.url.utf8.count }
    }
  }
}
