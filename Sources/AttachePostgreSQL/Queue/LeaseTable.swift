internal import AttacheQueue

/// The table whose rows are leased: payloads to process, or results to deliver.
enum LeaseTable: String {
  case work
  case result

  /// The order of claims.
  var order: String { self == .work ? "rank, id" : "rank, finished_at, id" }

  /// The columns of a row that no worker holds.
  static let freed = "until = NULL, worker = NULL, fence = NULL, alone = NULL"

  /// The state of a row that nobody holds: 0, or 1 for a suspect.
  static func ready(deaths: String = "deaths") -> String { "CASE WHEN \(deaths) >= \(Lease.deathsOfSuspect) THEN 1 ELSE 0 END" }
}
