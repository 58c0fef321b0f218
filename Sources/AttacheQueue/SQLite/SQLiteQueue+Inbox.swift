internal import GRDB

/// A dropped file to add to a queue.
struct DroppedPayload {
  var payload: NewPayload
  /// The name part of its result's files.
  var name: String
}

extension SQLiteQueue {
  /// Adds dropped files, and records their batch in the same transaction.
  ///
  /// - Parameter batch: a unique name.
  func takeIn(_ dropped: [DroppedPayload], batch: String) throws(QueueError) {
    try write { connection, tally in
      let ids = try connection.add(dropped.lazy.map(\.payload), at: clock.wall.microseconds, &tally)
      let insert = try connection.batch("INSERT INTO dropped VALUES (?, ?)")
      for (id, name) in zip(ids, dropped.lazy.map(\.name)) where !name.isEmpty {
        try insert.bind(2, name)
        try insert.run(id)
      }
      try connection.cachedStatement(sql: "INSERT INTO intake VALUES (?)").execute(arguments: [batch])
    }
  }

  /// Returns the recorded batches.
  func takenBatches() throws(QueueError) -> Set<String> {
    try read { try Set(String.fetchAll($0.cachedStatement(sql: "SELECT batch FROM intake"))) }
  }

  /// Deletes the records of batches whose files are removed.
  func forget(_ batches: Set<String>) throws(QueueError) {
    try write { connection, _ in
      for batch in batches { try connection.execute(sql: "DELETE FROM intake WHERE batch = ?", arguments: [batch]) }
    }
  }
}
