/// SQL that counts payloads by state.
enum Tally {
  private static let columns = ["ready", "waiting", "leased", "done", "dead", "unread"]

  /// Returns two queries of a `WITH` list that add the counts of workers to worker 0, and count the
  /// rows of `freed` as ready.
  ///
  /// - Parameter workers: a condition on the worker's number.
  static func fold(_ workers: String) -> String {
    let list = columns.joined(separator: ", ")
    return """
      folded AS (DELETE FROM tally WHERE worker \(workers) RETURNING \(list)),
      counted AS (
        INSERT INTO tally (worker, part, \(list)) SELECT 0, 0, \(columns.map { "sum(\($0))" }.joined(separator: ", "))
        FROM (SELECT * FROM folded UNION ALL SELECT 1, 0, -1, 0, 0, 0 FROM freed) AS parts HAVING count(*) > 0
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
    let values = columns.map { changes[$0] ?? "0" }
    let sums = columns.filter { changes[$0] != nil }.map { "\($0) = tally.\($0) + excluded.\($0)" }
    return """
      INSERT INTO tally (worker, part, \(columns.joined(separator: ", ")))
      SELECT \(worker), \(part.rawValue), \(values.joined(separator: ", ")) FROM \(source) HAVING count(*) > 0
      ON CONFLICT (worker, part) DO UPDATE SET \(sums.joined(separator: ", "))
      """
  }
}

/// The parts of a worker's tally.
enum TallyPart: Int64 {
  case claims = 0
  case settling = 1
  case deliveries = 2
}
