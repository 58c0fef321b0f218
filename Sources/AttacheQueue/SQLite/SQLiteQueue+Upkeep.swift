internal import Attache
internal import GRDB

extension SQLiteQueue {
  package func counts() throws(QueueError) -> QueueCounts {
    try log.checkPresence()
    return try read { connection in
      let tally = try QueueTally(connection)
      let (wall, now) = (clock.wall, try now(connection))
      let due = tally.waiting == 0 ? 0 : try connection.countDue(now)
      var counts = QueueCounts()
      for state in PayloadState.allCases { counts[state] = tally[state] }
      counts[.ready] += due
      counts[.waiting] -= due
      counts.unread = tally.unread
      if let moments = try Row.fetchOne(connection, sql: PayloadSearch.queryOldest(undelivered: "SELECT min(id) FROM delivery", now)) {
        for (index, state) in PayloadSearch.agingStates.enumerated() {
          counts.oldest[state] = (moments[index] as Int64?).map { max(.zero, wall - .microseconds($0)) }
        }
      }
      counts.delivering = try Int.fetchOne(connection, sql: "SELECT count(*) FROM delivery WHERE state = 3") ?? 0
      counts.pauses = try PayloadEvent.Stage.allCases.compactMap(connection.pause)
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
}

extension Database {
  /// Returns how many waiting payloads are due, and therefore claimable.
  fileprivate func countDue(_ now: PayloadSearch.Now) throws -> Int {
    let due = now.due("").map { "SELECT id FROM work INDEXED BY \($0.index) WHERE state = 2 AND \($0.condition)" }
    return try Int.fetchOne(self, sql: "SELECT count(*) FROM (\(due.joined(separator: " UNION ")))") ?? 0
  }
}
