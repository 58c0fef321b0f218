internal import GRDB

/// The tables that the database of a queue in a folder has beside those of ``QueueSchema``.
///
/// - `dropped`: the names of dropped files, as their results are called.
/// - `intake`: the batches of dropped files that are in the queue; their files are to be removed.
/// - `outbox`: one row for each result: what is done about its files (``OutboxState``) and where
///   they are. Triggers keep it, so that it changes in the transaction that changes the result.
enum FolderSchema {
  /// `PRAGMA user_version`: the version of these tables.
  static let version = 1

  static let version1 = """
    CREATE TABLE dropped (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE intake (batch TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE outbox (id INTEGER PRIMARY KEY, state INTEGER NOT NULL, path TEXT);
    CREATE INDEX outbox_unwritten ON outbox (id) WHERE state = 0;
    CREATE INDEX outbox_unread ON outbox (id) WHERE state = 1;
    CREATE INDEX outbox_outdated ON outbox (id) WHERE state = 2;
    INSERT INTO outbox SELECT id, 0, NULL FROM result;
    CREATE TRIGGER outbox_result AFTER INSERT ON result BEGIN
      INSERT INTO outbox (id, state) VALUES (new.id, 0) ON CONFLICT (id) DO UPDATE SET state = 0;
    END;
    CREATE TRIGGER outbox_read AFTER UPDATE OF read ON result WHEN new.read BEGIN
      UPDATE outbox SET state = 3 WHERE id = new.id AND state = 1;
    END;
    CREATE TRIGGER outbox_gone AFTER DELETE ON result BEGIN
      UPDATE outbox SET state = 2 WHERE id = old.id;
    END;
    CREATE TRIGGER dropped_gone AFTER DELETE ON payload BEGIN
      DELETE FROM dropped WHERE id = old.id;
    END;
    PRAGMA user_version = 1;
    """
}

/// What is done about the files of a result.
enum OutboxState: Int64 {
  /// They are to be written.
  case unwritten = 0
  /// They were written, and the result was not read.
  case unread = 1
  /// The result is gone: they are to be removed.
  case outdated = 2
  /// They were written, and the result was read through the queue.
  case read = 3
  /// They were written, and somebody took them away.
  case taken = 4
}

extension SQLiteQueue {
  /// Makes the tables of a queue in a folder where they are missing.
  func prepareFolder() throws(QueueError) {
    let version = try read { try Int.fetchOne($0, sql: "PRAGMA user_version") ?? 0 }
    guard version <= FolderSchema.version else { throw .unavailable("\(file.path): was written by a later attache; work it with that one") }
    guard version < FolderSchema.version else { return }
    try write { connection, _ in
      // Another process may have made them meanwhile.
      guard try Int.fetchOne(connection, sql: "PRAGMA user_version") == 0 else { return }
      try connection.execute(sql: FolderSchema.version1)
    }
  }
}
