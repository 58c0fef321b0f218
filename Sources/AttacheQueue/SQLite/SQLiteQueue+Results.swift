internal import Attache
internal import GRDB

extension SQLiteQueue {
  package func results(_ request: ResultRequest) throws(QueueError) -> ResultPage {
    try read { connection in try connection.page(request) }
  }

  package func markRead(_ ids: [Int64]) throws(QueueError) -> [String] {
    guard !ids.isEmpty else { return [] }
    return try write { connection, tally in
      let update = try connection.batch("UPDATE result SET read = 1 WHERE id = ? AND read = 0 RETURNING dead")
      let delete = try connection.batch("DELETE FROM delivery WHERE id = ?")
      let holds = try Bool.fetchOne(connection.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM hold)")) ?? false
      for id in ids {
        guard let isDead = try update.flag(id) else { continue }
        try delete.run(id)
        tally.noteEnd(.delivered, isDead: isDead)
        if holds { try connection.orphanHolds(of: "= ?", [id]) }
      }
      return try connection.takeOrphans()
    }
  }

  package func unlistedHolds(_ paths: [String]) throws(QueueError) -> [String] {
    try read { connection in
      let select = try connection.batch("SELECT 1 FROM hold WHERE path = ? AND id > 0")
      return try paths.filter { path in
        defer { select.reset() }
        try select.bind(1, path)
        return try !select.step()
      }
    }
  }

  package func anyHold() throws(QueueError) -> String? {
    try read { connection in
      try String.fetchOne(connection.cachedStatement(sql: "SELECT path FROM hold LIMIT 1"))
    }
  }
}

extension Database {
  fileprivate func page(_ request: ResultRequest) throws -> ResultPage {
    let select = try batch(Self.pageQuery(request))
    select.bind(1, request.after)
    defer { select.reset() }
    var page = ResultPage(entries: [], last: request.after, isAtEnd: true)
    var room = request.maximumBytes
    while try select.step() {
      let id = select.integer(0)
      guard select.integer(1) != Standing.undecided.rawValue else { return page }
      if select.integer(1) == Standing.read.rawValue {
        page.last = id
        continue
      }
      room -= Int(select.integer(2))
      guard page.entries.count < request.limit, room >= 0 || page.entries.isEmpty else {
        page.isAtEnd = false
        return page
      }
      page.entries.append(select.entry(id))
      page.last = id
    }
    return page
  }

  /// The kind of a row of the page's query.
  private enum Standing: Int64 {
    case undecided = 0
    case wanted = 1
    case read = 2
  }

  /// Returns a query for rows of number, ``Standing``, length in bytes, line, record, outcome and
  /// reason. A page that stops at an undecided payload reads every payload. Other pages read
  /// results only.
  private static func pageQuery(_ request: ResultRequest) -> String {
    let columns =
      "length(coalesce(output.line, payload.line)) + length(record), coalesce(output.line, payload.line), record, outcome, reason"
    guard request.stopsAtUndecided else {
      return """
        SELECT result.id, 1, \(columns) FROM result CROSS JOIN payload ON payload.id = result.id CROSS JOIN output ON output.id = result.id
        WHERE result.id > ? \(request.onlyUnread ? "AND read = 0" : "") ORDER BY result.id
        """
    }
    return """
      SELECT payload.id, iif(result.id IS NULL, 0, iif(\(request.onlyUnread ? "read" : "0"), 2, 1)), \(columns)
      FROM payload LEFT JOIN result ON result.id = payload.id LEFT JOIN output ON output.id = payload.id WHERE payload.id > ? ORDER BY payload.id
      """
  }

  // MARK: Holds

  /// Detaches the holds of results.
  ///
  /// - Parameter condition: a condition on the result's number, with these arguments.
  func orphanHolds(of condition: String, _ arguments: [Int64]) throws {
    try cachedStatement(sql: "INSERT OR IGNORE INTO hold SELECT 0, path FROM hold WHERE id > 0 AND id \(condition)")
      .execute(arguments: StatementArguments(arguments))
    try cachedStatement(sql: "DELETE FROM hold WHERE id > 0 AND id \(condition)").execute(arguments: StatementArguments(arguments))
  }

  /// Deletes the detached holds.
  ///
  /// - Returns: those that no result uses.
  func takeOrphans() throws -> [String] {
    let paths = try String.fetchAll(
      cachedStatement(
        sql: """
          SELECT path FROM hold WHERE id = 0 AND NOT EXISTS (SELECT 1 FROM hold AS other WHERE other.path = hold.path AND other.id > 0)
          """))
    try cachedStatement(sql: "DELETE FROM hold WHERE id = 0").execute()
    return paths
  }
}

extension BatchStatement {
  /// Returns the result in a row of a page. An outcome or reason that this version does not know is
  /// replaced, so that the line can be read. The record is unchanged.
  fileprivate func entry(_ id: Int64) -> ResultPage.Entry {
    ResultPage.Entry(
      id: id, line: bytes(3), record: bytes(4), outcome: Outcome(rawValue: text(5)) ?? .fallback,
      reason: isNull(6) ? nil : Reason(rawValue: text(6)))
  }
}
