package import Attache
internal import GRDB

extension SQLiteQueue {
  package func counts() throws(QueueError) -> QueueCounts {
    try read { connection in
      let tally = try QueueTally(connection)
      let (wall, uptime) = (clock.wall, clock.uptime.microseconds)
      let boot = try Int64.fetchOne(connection, sql: "SELECT number FROM boot WHERE name = ?", arguments: [clock.boot])
      let due = tally.waiting == 0 ? 0 : try connection.countDue(wall: wall.microseconds, uptime: uptime, boot: boot ?? 0)
      var counts = QueueCounts()
      counts.ready = tally.ready + due
      counts.waiting = tally.waiting - due
      counts.leased = tally.leased
      counts.done = tally.done
      counts.dead = tally.dead
      counts.unread = tally.unread
      let oldest = try Int64.fetchOne(connection, sql: "SELECT enqueued_at FROM payload WHERE id = (SELECT min(id) FROM work)")
      counts.oldest = oldest.map { max(.zero, wall - .microseconds($0)) }
      counts.delivering = try Int.fetchOne(connection, sql: "SELECT count(*) FROM delivery WHERE state = 3") ?? 0
      let undelivered = try Int64.fetchOne(
        connection, sql: "SELECT enqueued_at FROM payload WHERE id = (SELECT min(id) FROM delivery)")
      counts.oldestUndelivered = undelivered.map { max(.zero, wall - .microseconds($0)) }
      let second = wall.components.seconds
      func finished(since first: Int64) throws -> Int {
        try Int.fetchOne(
          connection, sql: "SELECT total(count) FROM finished WHERE second > ? AND second <= ?", arguments: [first, second]) ?? 0
      }
      counts.finishedLastMinute = try finished(since: second - 60)
      counts.finishedLately = try finished(since: second - QueueCounts.recentSpan.components.seconds)
      return counts
    }
  }

  package func retry(_ reason: Reason?) throws(QueueError) -> Int {
    try retry(reason, where: "TRUE")
  }

  /// - Parameter condition: a condition on rows of `result`. Only matching results are retried.
  func retry(_ reason: Reason?, where condition: String) throws(QueueError) -> Int {
    try write { connection, tally in
      let wanted = """
        SELECT id FROM result WHERE CASE WHEN ?2 IS NULL THEN outcome = ?1 OR dead ELSE reason = ?2 END AND \(condition)
          AND id NOT IN (SELECT id FROM delivery WHERE state = 3)
        """
      let arguments: StatementArguments = [Outcome.fallback.rawValue, reason?.rawValue]
      func run(_ sql: String) throws -> Int {
        try connection.execute(sql: sql, arguments: arguments)
        return connection.changesCount
      }
      let dead = try Int.fetchOne(connection, sql: "SELECT count(*) FROM (\(wanted) AND dead)", arguments: arguments) ?? 0
      let unread = try Int.fetchOne(connection, sql: "SELECT count(*) FROM (\(wanted) AND NOT read)", arguments: arguments) ?? 0
      _ = try run(
        """
        INSERT INTO work (id, state, rank, attempts, deaths, deaths_alone)
        SELECT id, 0, -max(priority, -9223372036854775807), 0, 0, 0 FROM payload WHERE id IN (\(wanted))
        """)
      _ = try run("INSERT OR IGNORE INTO hold SELECT 0, path FROM hold WHERE id IN (\(wanted))")
      _ = try run("DELETE FROM hold WHERE id IN (\(wanted))")
      _ = try run("DELETE FROM output WHERE id IN (\(wanted))")
      let count = try run("DELETE FROM result WHERE id IN (\(wanted))")
      tally.ready += count
      tally.dead -= dead
      tally.done -= count - dead
      tally.unread -= unread
      return count
    }
  }

  /// The number of results that one transaction of a purge deletes. The limit keeps the wait of
  /// workers short.
  package static let purgeBatch = 10_000

  package func purge(olderThan age: Duration, includesUndelivered: Bool) throws(QueueError) -> (payloads: Int, released: [String]) {
    let before = (clock.wall - age).microseconds
    var payloads = 0
    while true {
      // The deletions of a step are kept when a later step fails. The holds are returned at the
      // end, or by the next purge.
      let count = try write { connection, tally in
        try connection.purge(finishedBefore: before, includesUndelivered: includesUndelivered, &tally)
      }
      payloads += count
      guard count == Self.purgeBatch else { break }
    }
    let released = try write { connection, _ in try connection.takeOrphans() }
    return (payloads, released)
  }
}

extension Database {
  /// Returns how many waiting payloads are due, and therefore claimable.
  fileprivate func countDue(wall: Int64, uptime: Int64, boot: Int64) throws -> Int {
    let due = ["moment <= ?1", "boot = ?2 AND until <= ?3", "boot < ?2", "boot > ?2"].map {
      "SELECT id FROM work WHERE state = 2 AND \($0)"
    }
    let count = "SELECT count(*) FROM (\(due.joined(separator: " UNION ")))"
    return try Int.fetchOne(self, sql: count, arguments: [wall, boot, uptime]) ?? 0
  }

  fileprivate func purge(finishedBefore moment: Int64, includesUndelivered: Bool, _ tally: inout QueueTally) throws -> Int {
    let old = "finished_at <= \(moment) AND \(includesUndelivered ? "id NOT IN (SELECT id FROM delivery WHERE state = 3)" : "read")"
    let ids = try Int64.fetchAll(self, sql: "SELECT id FROM result WHERE \(old) ORDER BY id LIMIT \(SQLiteQueue.purgeBatch)")
    guard let first = ids.first, let last = ids.last else { return 0 }
    let wanted = "SELECT id FROM result WHERE id BETWEEN \(first) AND \(last) AND \(old)"
    let dead = try Int.fetchOne(self, sql: "SELECT count(*) FROM (\(wanted) AND dead)") ?? 0
    let unread = try Int.fetchOne(self, sql: "SELECT count(*) FROM (\(wanted) AND NOT read)") ?? 0
    try execute(sql: "INSERT OR IGNORE INTO hold SELECT 0, path FROM hold WHERE id IN (\(wanted))")
    for table in ["hold", "output", "payload", "result"] { try execute(sql: "DELETE FROM \(table) WHERE id IN (\(wanted))") }
    tally.dead -= dead
    tally.done -= ids.count - dead
    tally.unread -= unread
    return ids.count
  }
}
