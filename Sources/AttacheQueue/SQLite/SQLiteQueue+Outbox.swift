internal import Attache
internal import GRDB

/// A result whose files must be written.
struct UnwrittenResult {
  var id: Int64
  /// The output line, with its line ending.
  var line: [UInt8]
  /// The report's record: one JSON object with a line feed.
  var record: [UInt8]
  var isDead: Bool
  /// The name part of the dropped file; nil when there was none.
  var name: String?
}

/// The place of the files of a result.
struct OutboxPlace {
  var id: Int64
  /// The path of the output line within the queue's folder, such as `done/17-cat.json`.
  var path: String
}

extension SQLiteQueue {
  /// Calls `body` for the first results whose files must be written.
  func forEachUnwritten(limit: Int, _ body: (UnwrittenResult) throws(QueueError) -> Void) throws(QueueError) {
    try read { connection in
      let select = try connection.batch(
        """
        SELECT result.id, dead, coalesce(output.line, payload.line), record, name
        FROM outbox INDEXED BY outbox_unwritten CROSS JOIN result ON result.id = outbox.id CROSS JOIN payload ON payload.id = outbox.id
          CROSS JOIN output ON output.id = outbox.id LEFT JOIN dropped ON dropped.id = outbox.id
        WHERE state = 0 ORDER BY outbox.id LIMIT ?
        """)
      select.bind(1, Int64(limit))
      defer { select.reset() }
      while try select.step() {
        try body(
          UnwrittenResult(
            id: select.integer(0), line: select.bytes(2), record: select.bytes(3), isDead: select.integer(1) != 0,
            name: select.isNull(4) ? nil : select.text(4)))
      }
    }
  }

  /// Whether files must be written or removed.
  func hasOutboxWork() throws(QueueError) -> Bool {
    try read { connection in
      let states = "SELECT 1 FROM outbox WHERE state = 0 UNION ALL SELECT 1 FROM outbox WHERE state = 2"
      return try Bool.fetchOne(connection.cachedStatement(sql: "SELECT EXISTS (\(states))")) ?? false
    }
  }

  /// Records that files were written. They get their names next.
  ///
  /// - Returns: those whose results still exist.
  func noteWritten(_ places: [OutboxPlace]) throws(QueueError) -> [OutboxPlace] {
    try write { connection, _ in
      let update = try connection.batch(
        """
        UPDATE outbox SET path = ?2, state = iif((SELECT read FROM result WHERE result.id = outbox.id), 3, 1) WHERE id = ?1 AND state = 0
        """)
      return try places.filter { place in
        try update.bind(2, place.path)
        update.bind(1, place.id)
        return try update.run() > 0
      }
    }
  }

  /// Returns the path of a result's written files, before or after their rename; nil when they were
  /// not written completely.
  func writtenPath(of id: Int64) throws(QueueError) -> String? {
    try read { connection in
      try String.fetchOne(connection.cachedStatement(sql: "SELECT path FROM outbox WHERE id = ? AND state IN (1, 3)"), arguments: [id])
    }
  }

  /// Returns the places of files of deleted results. The path is empty for files that were never
  /// written.
  func outdatedPlaces(limit: Int) throws(QueueError) -> [OutboxPlace] {
    try places("SELECT id, coalesce(path, '') FROM outbox WHERE state = 2 ORDER BY id LIMIT ?", [Int64(limit)])
  }

  /// Deletes the records of removed files.
  func forget(_ outdated: [OutboxPlace]) throws(QueueError) {
    try write { connection, _ in
      let delete = try connection.batch("DELETE FROM outbox WHERE id = ? AND state = 2")
      for place in outdated { try delete.run(place.id) }
    }
  }

  // MARK: What was taken away

  /// Returns the places of written files, in the order of their numbers, after a number.
  ///
  /// - Parameter includesRead: whether to include results that were read.
  func writtenPlaces(after id: Int64, limit: Int, includesRead: Bool) throws(QueueError) -> [OutboxPlace] {
    try places(
      "SELECT id, path FROM outbox WHERE state \(includesRead ? "IN (1, 3)" : "= 1") AND id > ? ORDER BY id LIMIT ?", [id, Int64(limit)])
  }

  /// Returns the states and paths of the files of these results.
  func outboxStates(of ids: [Int64]) throws(QueueError) -> [Int64: (state: OutboxState, path: String)] {
    try read { connection in
      let select = try connection.batch("SELECT state, coalesce(path, '') FROM outbox WHERE id = ?")
      var states: [Int64: (OutboxState, String)] = [:]
      for id in ids {
        select.bind(1, id)
        defer { select.reset() }
        if try select.step(), let state = OutboxState(rawValue: select.integer(0)) { states[id] = (state, select.text(1)) }
      }
      return states
    }
  }

  /// Records that files were moved away or deleted, and marks their results as read. Releases their
  /// holds that no other result uses.
  func noteTaken(_ ids: [Int64]) throws(QueueError) {
    guard !ids.isEmpty else { return }
    try write { connection, tally in
      let read = try connection.batch("UPDATE result SET read = 1 WHERE id = ? AND read = 0")
      let taken = try connection.batch("UPDATE outbox SET state = 4 WHERE id = ? AND state IN (1, 3)")
      for id in ids {
        if try read.run(id) > 0 {
          tally.unread -= 1
          try connection.orphanHolds(of: "= ?", [id])
        }
        try taken.run(id)
      }
    }
  }

  /// Retries payloads whose files were neither moved away nor deleted.
  func retryUntaken(_ reason: Reason?) throws(QueueError) -> Int {
    try retry(reason, where: "id NOT IN (SELECT id FROM outbox WHERE state = 4)")
  }

  private func places(_ sql: String, _ arguments: [Int64]) throws(QueueError) -> [OutboxPlace] {
    try read { connection in
      try Row.fetchAll(connection.cachedStatement(sql: sql), arguments: StatementArguments(arguments)).map {
        OutboxPlace(id: $0[0], path: $0[1])
      }
    }
  }
}
