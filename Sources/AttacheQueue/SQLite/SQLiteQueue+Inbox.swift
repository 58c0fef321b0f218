internal import GRDB

/// A dropped file on its way into a queue.
struct DroppedPayload {
  var payload: NewPayload
  /// What its result is called.
  var name: String
}

extension SQLiteQueue {
  /// Adds dropped files, and notes in the same transaction that their batch is in the queue.
  ///
  /// - Parameter batch: a name that no other batch has had.
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

  /// The batches that are in the queue and were not forgotten.
  func takenBatches() throws(QueueError) -> Set<String> {
    try read { try Set(String.fetchAll($0.cachedStatement(sql: "SELECT batch FROM intake"))) }
  }

  /// Forgets batches whose files are gone.
  func forget(_ batches: Set<String>) throws(QueueError) {
    try write { connection, _ in
      for batch in batches { try connection.execute(sql: "DELETE FROM intake WHERE batch = ?", arguments: [batch]) }
    }
  }
}
