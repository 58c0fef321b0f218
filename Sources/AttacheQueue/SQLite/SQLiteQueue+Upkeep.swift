internal import Attache
internal import GRDB

extension SQLiteQueue {
  package func counts() throws(QueueError) -> QueueCounts {
    try read { connection in
      let tally = try QueueTally(connection)
      let (wall, uptime) = (clock.wall, clock.uptime.microseconds)
      let boot = try Int64.fetchOne(connection, sql: "SELECT number FROM boot WHERE name = ?", arguments: [clock.boot])
      let due = tally.waiting == 0 ? 0 : try connection.countDue(wall: wall.microseconds, uptime: uptime, boot: boot ?? 0)
      var counts = QueueCounts()
      for state in PayloadState.allCases { counts[state] = tally[state] }
      counts[.ready] += due
      counts[.waiting] -= due
      counts.unread = tally.unread
      if let moments = try Row.fetchOne(connection, sql: PayloadSearch.queryOldest(undelivered: "SELECT min(id) FROM delivery")) {
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
  fileprivate func countDue(wall: Int64, uptime: Int64, boot: Int64) throws -> Int {
    let due = ["moment <= ?1", "boot = ?2 AND until <= ?3", "boot < ?2", "boot > ?2"].map {
      "SELECT id FROM work WHERE state = 2 AND \($0)"
    }
    let count = "SELECT count(*) FROM (\(due.joined(separator: " UNION ")))"
    return try Int.fetchOne(self, sql: count, arguments: [wall, boot, uptime]) ?? 0
  }
}
