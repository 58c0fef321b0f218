internal import AttacheQueue

/// SQL that counts payloads by state.
enum Tally {
  static let columns = PayloadState.allCases.map(column) + ["unread"]

  /// The column with the number of payloads in a state.
  private static func column(_ state: PayloadState) -> String { state == .timedOut ? "timed_out" : state.rawValue }

  /// Returns two queries of a `WITH` list that add the counts of workers to worker 0, and count the
  /// rows of `freed` as ready.
  ///
  /// - Parameter workers: a condition on the worker's number.
  static func fold(_ workers: String) -> String {
    let list = columns.joined(separator: ", ")
    let freed = columns.map { $0 == "ready" ? "1" : $0 == "leased" ? "-1" : "0" }.joined(separator: ", ")
    return """
      folded AS (DELETE FROM tally WHERE worker \(workers) RETURNING \(list)),
      counted AS (
        INSERT INTO tally (worker, part, \(list)) SELECT 0, 0, \(columns.map { "sum(\($0))" }.joined(separator: ", "))
        FROM (SELECT * FROM folded UNION ALL SELECT \(freed) FROM freed) AS parts HAVING count(*) > 0
        ON CONFLICT (worker, part) DO UPDATE SET \(columns.map { "\($0) = tally.\($0) + excluded.\($0)" }.joined(separator: ", ")))
      """
  }

  /// Returns an `INSERT` that adds to a part of the counts.
  ///
  /// - Parameters:
  ///   - worker: an expression for the worker's number.
  ///   - changes: an aggregate expression over the rows of `source` for each column that changes.
  ///   - source: a query's `FROM` and `WHERE`, without these words.
  static func add(_ worker: String, _ part: TallyPart, _ changes: [String: String], from source: String) -> String {
    let changed = columns.filter { changes[$0] != nil }
    let values = changed.map { changes[$0] ?? "0" }
    let sums = changed.map { "\($0) = tally.\($0) + excluded.\($0)" }
    return """
      INSERT INTO tally (worker, part, \(changed.joined(separator: ", ")))
      SELECT \(worker), \(part.rawValue), \(values.joined(separator: ", ")) FROM \(source) HAVING count(*) > 0
      ON CONFLICT (worker, part) DO UPDATE SET \(sums.joined(separator: ", "))
      """
  }
}

extension Tally {
  /// Returns the changes for rows of results with `dead`, `status` and `unread` that are counted no longer.
  static let forgotten: [String: String] = {
    var changes = ["unread": "-count(*) FILTER (WHERE unread)", "done": "-count(*) FILTER (WHERE unread AND NOT dead)"]
    changes["dead"] = "-count(*) FILTER (WHERE dead OR status = '\(DeliveryStatus.poison.rawValue)')"
    return changes.merging(ended(counting: "-count(*)", where: "NOT unread AND coalesce(status, 'delivered')")) { first, _ in first }
  }()

  /// Returns the changes for each way in which the delivery of a payload that is not dead may end.
  ///
  /// - Parameters:
  ///   - count: the aggregate that counts rows.
  ///   - status: the SQL of a row's ``DeliveryStatus``, perhaps after other conditions.
  static func ended(counting count: String, where status: String) -> [String: String] {
    let changes = DeliveryStatus.allCases.map { ending in
      (column(PayloadState(ending)), "\(count) FILTER (WHERE NOT dead AND \(status) = '\(ending.rawValue)')")
    }
    return Dictionary(uniqueKeysWithValues: changes)
  }
}

/// The parts of a worker's tally.
enum TallyPart: Int64 {
  case claims = 0
  case settling = 1
  case deliveries = 2
}
