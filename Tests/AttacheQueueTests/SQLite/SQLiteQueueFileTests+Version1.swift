extension SQLiteQueueFileTests {
  /// A queue in the format of the first version, with a result, a due payload, and one that waited
  /// when the machine was restarted.
  static let version1 = """
    PRAGMA application_id = 1634825573;
    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
    INSERT INTO grdb_migrations VALUES ('1');
    CREATE TABLE queue (one INTEGER PRIMARY KEY CHECK (one = 1), last_id INTEGER NOT NULL, last_fence INTEGER NOT NULL, ready INTEGER NOT NULL,
      waiting INTEGER NOT NULL, leased INTEGER NOT NULL, done INTEGER NOT NULL, dead INTEGER NOT NULL, unread INTEGER NOT NULL);
    INSERT INTO queue VALUES (1, 3, 7, 1, 1, 0, 1, 0, 1);
    CREATE TABLE boot (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    INSERT INTO boot VALUES (1, 'an earlier boot'), (2, 'first boot');
    CREATE TABLE payload (id INTEGER PRIMARY KEY, priority INTEGER NOT NULL, not_before INTEGER, expires_at INTEGER, enqueued_at INTEGER NOT NULL,
      key BLOB, line BLOB NOT NULL);
    INSERT INTO payload VALUES (1, 10, NULL, NULL, 1793999000000000, x'6B', x'646F6E650A'), (2, 10, NULL, NULL, 1793999000000000, NULL, x'6475650A'),
      (3, 10, NULL, NULL, 1793999000000000, NULL, x'64656C617965640A');
    CREATE UNIQUE INDEX payload_key ON payload (key) WHERE key IS NOT NULL;
    CREATE TABLE work (id INTEGER PRIMARY KEY, state INTEGER NOT NULL, rank INTEGER NOT NULL, attempts INTEGER NOT NULL, deaths INTEGER NOT NULL,
      deaths_alone INTEGER NOT NULL, boot INTEGER, until INTEGER, moment INTEGER, worker INTEGER, fence INTEGER, alone INTEGER);
    INSERT INTO work VALUES (2, 0, -10, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL), (3, 2, -10, 1, 0, 0, 1, 900000000000, NULL, NULL, NULL, NULL);
    CREATE INDEX work_ready ON work (rank, id) WHERE state = 0;
    CREATE INDEX work_suspect ON work (rank, id) WHERE state = 1;
    CREATE INDEX work_delayed ON work (boot, until) WHERE state = 2;
    CREATE INDEX work_moment ON work (moment) WHERE state = 2;
    CREATE INDEX work_leased ON work (boot, worker, until) WHERE state = 3;
    CREATE TABLE result (id INTEGER PRIMARY KEY, outcome TEXT NOT NULL, reason TEXT, dead INTEGER NOT NULL, read INTEGER NOT NULL,
      finished_at INTEGER NOT NULL);
    INSERT INTO result VALUES (1, 'attached', NULL, 0, 0, 1793999100000000);
    CREATE TABLE output (id INTEGER PRIMARY KEY, record BLOB NOT NULL, line BLOB);
    INSERT INTO output VALUES (1, x'7B7D0A', x'6D656469610A');
    CREATE TABLE hold (id INTEGER NOT NULL, path TEXT NOT NULL, PRIMARY KEY (id, path)) WITHOUT ROWID;
    CREATE INDEX hold_path ON hold (path);
    INSERT INTO hold VALUES (1, '/held/one');
    CREATE TABLE finished (second INTEGER PRIMARY KEY, count INTEGER NOT NULL);
    """
}
