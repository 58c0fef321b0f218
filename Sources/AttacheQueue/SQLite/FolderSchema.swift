internal import GRDB

/// The tables that the database of a queue in a folder has in addition to those of ``QueueSchema``.
///
/// - `dropped`: the names of dropped files, which become part of the names of their results.
/// - `intake`: the batches of dropped files that are in the queue and whose files must be removed.
/// - `outbox`: one row for each result: the state of its files (``OutboxState``) and their path.
///   Triggers maintain it, so that it changes in the same transaction as the result.
enum FolderSchema {
  static let tables = """
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
    """
}

/// The state of the files of a result.
enum OutboxState: Int64 {
  /// The files must be written.
  case unwritten = 0
  /// The files were written, and the result was not read.
  case unread = 1
  /// The result was deleted: its files must be removed.
  case outdated = 2
  /// The files were written, and the result was read through the queue.
  case read = 3
  /// The files were written, and a user moved them away or deleted them.
  case taken = 4
}

extension SQLiteQueue {
  /// Creates the missing tables of a queue in a folder.
  func prepareFolder() throws(QueueError) {
    guard try !read({ try Self.hasFolder($0) }) else { return }
    try write { connection, _ in
      // Another process may have created them in the meantime.
      guard try !Self.hasFolder(connection) else { return }
      try connection.execute(sql: FolderSchema.tables)
    }
  }

  /// GRDB's `tableExists` answers from a copy of the schema, which another process may have changed.
  private static func hasFolder(_ connection: Database) throws -> Bool {
    try Bool.fetchOne(connection, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'outbox')") ?? false
  }
}
