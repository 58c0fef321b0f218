/// SQL that counts payloads by state.
enum Tally {
  /// Returns an `INSERT` that adds to a part of the counts.
  ///
  /// - Parameters:
  ///   - worker: an expression for the worker's number.
  ///   - changes: an aggregate expression over the rows of `source` for each column that changes.
  ///   - source: a query's `FROM` and `WHERE`, without these words.
  static func add(_ worker: String, _ part: TallyPart, _ changes: [String: String], from source: String) -> String {
    let columns = ["ready", "waiting", "leased", "done", "dead", "unread"]
    let values = columns.map { changes[$0] ?? "0" }
    let sums = columns.filter { changes[$0] != nil }.map { "\($0) = tally.\($0) + excluded.\($0)" }
    return """
      INSERT INTO tally (worker, part, \(columns.joined(separator: ", ")))
      SELECT \(worker), \(part.rawValue), \(values.joined(separator: ", ")) FROM \(source) HAVING count(*) > 0
      ON CONFLICT (worker, part) DO UPDATE SET \(sums.joined(separator: ", "))
      """
  }
}

extension LeaseTable {
  /// The state of a row that nobody holds: 0, or 1 for a suspect.
  static func ready(deaths: String = "deaths") -> String { "CASE WHEN \(deaths) >= 2 THEN 1 ELSE 0 END" }
}
