internal import GRDB

/// The tables of a queue's database.
///
/// - `payload`: payloads as they were enqueued, with the names of the files that they come from.
/// - `search`: the search keys of payloads that have one.
/// - `batch`: the batches of files that were added, until the files are removed.
/// - `work`: one row for each payload without a result.
/// - `result` and `output`: one row each for each payload with a result. `result` has what is
///   counted and searched, `output` what is written.
/// - `hold`: files that results hold in a store. Holds with the id 0 belong to no result, and are
///   returned to the next caller that releases holds.
/// - `queue`: one row with the last numbers, the count of payloads by state (``QueueTally``), the time to
///   which the results that were claimed at a rate reach (``QueueTally/pace``), and the queue's identity.
/// - `pause`: a row for each stage that is paused (``PayloadEvent/Stage``).
/// - `finished`: the number of results in each second of the wall clock, for the last minute.
/// - `boot`: the machine's starts, by number.
/// - `delivery`: one row for each result that was not delivered, which is each with `read` = 0. `tried_at` is
///   the time of the last failed attempt, and `tried_for` the time that counts for giving up
///   (``Delivery/triedFor``).
/// - `event`: the last failed attempts to process a payload and to deliver its result
///   (``PayloadEvent``).
///
/// No trigger maintains a table: each costs every payload more than a statement does, also one whose condition
/// is false (1.0 µs of SQLite 3.40). An index costs 0.15 µs for each row outside its condition.
///
/// Times and spans are in microseconds.
enum QueueSchema {
  /// `PRAGMA application_id`: the letters "aque".
  static let application: Int32 = 0x6171_7565

  /// The version of the tables, in `PRAGMA user_version`.
  private static let version: Int64 = 1

  /// The states of a row of `work` and of `delivery` in the statements: 0 ready, 1 suspect, 2 waiting,
  /// 3 leased. `decided` is the time of the result: earlier results are delivered first.
  private static let tables = """
    PRAGMA application_id = \(application);
    PRAGMA user_version = \(version);
    CREATE TABLE queue (one INTEGER PRIMARY KEY CHECK (one = 1), last_id INTEGER NOT NULL, last_fence INTEGER NOT NULL, ready INTEGER NOT NULL,
      waiting INTEGER NOT NULL, leased INTEGER NOT NULL, done INTEGER NOT NULL, delivered INTEGER NOT NULL, dropped INTEGER NOT NULL,
      expired INTEGER NOT NULL, timed_out INTEGER NOT NULL, cancelled INTEGER NOT NULL, dead INTEGER NOT NULL, unread INTEGER NOT NULL,
      pace INTEGER NOT NULL, identity TEXT NOT NULL);
    INSERT INTO queue VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, lower(hex(randomblob(16))));
    CREATE TABLE pause (stage INTEGER PRIMARY KEY, since INTEGER NOT NULL, reason TEXT);
    CREATE TABLE boot (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE payload (id INTEGER PRIMARY KEY, priority INTEGER NOT NULL, not_before INTEGER, expires_at INTEGER, enqueued_at INTEGER NOT NULL,
      key BLOB, search_key BLOB, line BLOB NOT NULL, name TEXT);
    CREATE TABLE search (search_key BLOB NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (search_key, id)) WITHOUT ROWID;
    CREATE TABLE batch (name TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE UNIQUE INDEX payload_key ON payload (key) WHERE key IS NOT NULL;
    CREATE TABLE work (id INTEGER PRIMARY KEY, state INTEGER NOT NULL, rank INTEGER NOT NULL, attempts INTEGER NOT NULL, deaths INTEGER NOT NULL,
      deaths_alone INTEGER NOT NULL, boot INTEGER, until INTEGER, moment INTEGER, worker INTEGER, fence INTEGER, alone INTEGER);
    CREATE INDEX work_ready ON work (rank, id) WHERE state = 0;
    CREATE INDEX work_suspect ON work (rank, id) WHERE state = 1;
    CREATE INDEX work_waiting ON work (id) WHERE state = 2;
    CREATE INDEX work_delayed ON work (boot, until) WHERE state = 2;
    CREATE INDEX work_moment ON work (moment) WHERE state = 2;
    CREATE INDEX work_leased ON work (boot, worker, until) WHERE state = 3;
    CREATE TABLE result (id INTEGER PRIMARY KEY, outcome TEXT NOT NULL, reason TEXT, dead INTEGER NOT NULL, read INTEGER NOT NULL,
      finished_at INTEGER NOT NULL, status TEXT, answer TEXT, delivered_at INTEGER);
    CREATE INDEX result_ended ON result (status, id) WHERE status <> 'delivered';
    CREATE INDEX result_dead ON result (id) WHERE dead OR status = 'poison';
    CREATE INDEX result_reason ON result (reason, id) WHERE reason IS NOT NULL AND substr(reason, 1, 8) <> 'payload.';
    CREATE TABLE output (id INTEGER PRIMARY KEY, record BLOB NOT NULL, line BLOB);
    CREATE TABLE hold (id INTEGER NOT NULL, path TEXT NOT NULL, PRIMARY KEY (id, path)) WITHOUT ROWID;
    CREATE INDEX hold_path ON hold (path);
    CREATE TABLE finished (second INTEGER PRIMARY KEY, count INTEGER NOT NULL);
    CREATE TABLE delivery (id INTEGER PRIMARY KEY, state INTEGER NOT NULL, rank INTEGER NOT NULL, decided INTEGER NOT NULL,
      attempts INTEGER NOT NULL, deaths INTEGER NOT NULL, deaths_alone INTEGER NOT NULL, boot INTEGER, until INTEGER, moment INTEGER,
      worker INTEGER, fence INTEGER, alone INTEGER, tried_at INTEGER, tried_for INTEGER NOT NULL DEFAULT 0);
    CREATE INDEX delivery_ready ON delivery (rank, decided) WHERE state = 0;
    CREATE INDEX delivery_suspect ON delivery (rank, decided) WHERE state = 1;
    CREATE INDEX delivery_delayed ON delivery (boot, until) WHERE state = 2;
    CREATE INDEX delivery_moment ON delivery (moment) WHERE state = 2;
    CREATE INDEX delivery_leased ON delivery (boot, worker, until) WHERE state = 3;
    CREATE TABLE event (id INTEGER NOT NULL, stage INTEGER NOT NULL, slot INTEGER NOT NULL, attempt INTEGER NOT NULL, moment INTEGER NOT NULL,
      text TEXT NOT NULL, PRIMARY KEY (id, stage, slot)) WITHOUT ROWID;
    """

  /// Whether a database has a queue. An empty database has none, and may get one (``create(in:)``).
  ///
  /// - Throws: ``QueueError/unavailable(_:)`` for a database of another program, or of another version
  ///   of the tables.
  static func exists(in connection: Database, at path: String) throws -> Bool {
    guard try Int32.fetchOne(connection, sql: "PRAGMA application_id") == application else {
      guard try Bool.fetchOne(connection, sql: "SELECT NOT EXISTS (SELECT 1 FROM sqlite_master)") == true else {
        throw QueueError.unavailable("\(path): is a database of another program, not a queue; choose another file")
      }
      return false
    }
    let found = try Int64.fetchOne(connection, sql: "PRAGMA user_version") ?? 0
    guard found == version else { throw QueueError.otherVersion(path, found: found, needed: version) }
    return true
  }

  /// Creates the tables in an empty database.
  static func create(in database: DatabaseQueue) throws {
    try database.write { try $0.execute(sql: tables) }
  }
}
