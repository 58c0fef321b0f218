internal import AttacheQueue

/// The table whose rows are leased: payloads to process, or results to deliver.
enum LeaseTable: String {
  case work
  case result

  /// What its rows are leased for.
  var stage: PayloadEvent.Stage { self == .work ? .work : .delivery }

  /// The order of claims.
  var order: String { self == .work ? "rank, id" : "rank, finished_at, id" }

  /// The columns of a row that no worker holds.
  static let freed = "until = NULL, worker = NULL, fence = NULL, alone = NULL"

  /// Returns a query of arrays as rows, with the place of the row of the table that the worker leases
  /// by the id and the fence; null for none. The rows must be locked.
  ///
  /// A join would do the same, but its plan depends on how many rows were leased when it was made. For
  /// the same reason, the condition on the state fits no partial index, so that the primary key is used.
  static func placed(_ table: LeaseTable, _ columns: String, _ arrays: String, worker: String) -> String {
    """
    SELECT given.*, (SELECT x.ctid FROM \(table.rawValue) x WHERE x.id = given.id AND x.fence = given.fence AND x.worker = \(worker)
        AND coalesce(x.state, -1) = 3) AS place
    FROM unnest(\(arrays)) AS given (\(columns))
    """
  }

  /// The state of a row that nobody holds: 0, or 1 for a suspect.
  static func ready(deaths: String = "deaths") -> String { "CASE WHEN \(deaths) >= \(Lease.deathsOfSuspect) THEN 1 ELSE 0 END" }
}
