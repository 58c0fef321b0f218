/// The tables of a queue, in a schema of its own.
///
/// - `payload`: payloads as they were enqueued, with the names of the files that they come from.
/// - `batch`: the batches of files that were added, until the files are removed.
/// - `work`: one row for each payload without a result.
/// - `result`: one row for each payload with a result, and the lease of its delivery.
/// - `output`: what is written for a result. Apart from `result`, whose rows change more often.
/// - `queue`: one row with the last number, the schema's version and the queue's identity. An enqueue
///   locks this row until it commits. So payloads become visible in the order of their numbers, and a
///   reader skips none.
/// - `tally`: the count of payloads by state, in parts that are summed: one for each kind of call
///   of each worker, so that no two calls wait for each other. Worker 0 is
///   those that have gone and the upkeep, worker -1 the enqueuers. The parts 10 and 12 record a
///   worker's last claim, so that a repeated claim finds its leases.
/// - `finished`: the number of results in each second, for the last minute.
/// - `worker`: the workers and deliverers that have not closed the queue. Each holds the advisory
///   lock of its `key` while its process lives (``WorkerPresence``). `share` is 1 for a deliverer that shares
///   the undelivered results, and 2 for one that has them alone.
/// - `pause`: a row for each stage that is paused (`PayloadEvent.Stage`).
/// - `pace`: one row, with the time to which the results that were claimed at a rate reach.
/// - `turn`: one row, locked by a call that takes a share.
/// - `intake`: the last batch of each enqueuer, so that a batch that is sent again is added once.
/// - `event`: the last failed attempts to process a payload and to deliver its result.
///
/// The states of rows of `work` and `result` are 0 ready, 1 suspect, 2 waiting, 3 leased; null means
/// that the delivery is over. Times and spans are in microseconds.
enum Schema {
  /// The version of the tables.
  static let version: Int64 = 1

  private static let leaseColumns = """
    state smallint, rank bigint NOT NULL, attempts integer NOT NULL DEFAULT 0, deaths integer NOT NULL DEFAULT 0,
    deaths_alone integer NOT NULL DEFAULT 0, until bigint, moment bigint, worker bigint, fence bigint, alone boolean, bytes bigint NOT NULL
    """

  /// The settings of a table whose rows change several times. Autovacuum must follow closely,
  /// because claims walk over dead index entries.
  private static let busy = """
    WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0)
    """

  /// The settings of a table with few rows that change with each call.
  private static let hot =
    "WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0)"

  /// The statements that create the tables.
  static var statements: [Statement] { (payloads + work + results + workers).map { Statement("", $0) } }

  private static let payloads = [
    "CREATE TABLE queue (one boolean PRIMARY KEY CHECK (one), version integer NOT NULL, last_id bigint NOT NULL, identity text NOT NULL) \(hot)",
    "INSERT INTO queue VALUES (true, \(version), 0, gen_random_uuid()::text)",
    """
    CREATE TABLE payload (id bigint PRIMARY KEY, priority bigint NOT NULL, not_before bigint, expires_at bigint, enqueued_at bigint NOT NULL,
      key bytea, search_key bytea, line bytea NOT NULL, name text)
    """,
    "CREATE TABLE batch (name text PRIMARY KEY)",
    // Lines are stored as they are: compressing them would take longer than writing them.
    "ALTER TABLE payload ALTER COLUMN line SET STORAGE EXTERNAL",
    "CREATE UNIQUE INDEX payload_key ON payload (key) WHERE key IS NOT NULL",
    "CREATE INDEX payload_search_key ON payload (search_key, id) WHERE search_key IS NOT NULL",
  ]

  private static let work = [
    "CREATE TABLE work (id bigint PRIMARY KEY, \(leaseColumns), taken_from bigint) \(busy)",
    "CREATE INDEX work_ready ON work (rank, id) WHERE state = 0",
    "CREATE INDEX work_suspect ON work (rank, id) WHERE state = 1",
    "CREATE INDEX work_waiting ON work (id) WHERE state = 2",
    "CREATE INDEX work_delayed ON work (until) WHERE state = 2",
    "CREATE INDEX work_moment ON work (moment) WHERE state = 2",
    "CREATE INDEX work_leased ON work (until) WHERE state = 3",
    "CREATE INDEX work_taken ON work (taken_from) WHERE taken_from IS NOT NULL",
  ]

  private static let results = [
    """
    CREATE TABLE result (id bigint PRIMARY KEY, outcome text NOT NULL, reason text, dead boolean NOT NULL, finished_at bigint NOT NULL,
      finisher bigint NOT NULL, finish_fence bigint NOT NULL, status text, answer text, delivered_at bigint,
      tried_at bigint, tried_for bigint NOT NULL DEFAULT 0, \(leaseColumns)) \(busy)
    """,
    "CREATE INDEX result_undelivered ON result (id) WHERE state IS NOT NULL",
    "CREATE INDEX result_ready ON result (rank, finished_at, id) WHERE state = 0",
    "CREATE INDEX result_suspect ON result (rank, finished_at, id) WHERE state = 1",
    "CREATE INDEX result_delayed ON result (until) WHERE state = 2",
    "CREATE INDEX result_moment ON result (moment) WHERE state = 2",
    "CREATE INDEX result_leased ON result (until) WHERE state = 3",
    "CREATE INDEX result_ended ON result (status, id) WHERE status <> 'delivered'",
    "CREATE INDEX result_dead ON result (id) WHERE dead OR status = 'poison'",
    "CREATE INDEX result_reason ON result (reason, id) WHERE reason IS NOT NULL AND substr(reason, 1, 8) <> 'payload.'",
    "CREATE TABLE output (id bigint PRIMARY KEY, record bytea NOT NULL, line bytea)",
    "ALTER TABLE output ALTER COLUMN record SET STORAGE EXTERNAL",
    "ALTER TABLE output ALTER COLUMN line SET STORAGE EXTERNAL",
  ]

  private static let workers = [
    """
    CREATE TABLE tally (worker bigint NOT NULL, part smallint NOT NULL, \(Tally.columns.map { "\($0) bigint NOT NULL DEFAULT 0" }.joined(separator: ", ")),
      call bigint NOT NULL DEFAULT 0, fence bigint NOT NULL DEFAULT 0, PRIMARY KEY (worker, part)) \(hot)
    """,
    "CREATE TABLE finished (second bigint NOT NULL, worker bigint NOT NULL, count bigint NOT NULL, PRIMARY KEY (second, worker)) \(hot)",
    "CREATE TABLE worker (number bigint PRIMARY KEY, name text NOT NULL, absent_since bigint, key bigint NOT NULL, share smallint)",
    "CREATE TABLE pause (stage smallint PRIMARY KEY, since bigint NOT NULL, reason text)",
    "CREATE TABLE pace (one boolean PRIMARY KEY CHECK (one), until bigint NOT NULL) \(hot)",
    "INSERT INTO pace VALUES (true, 0)",
    "CREATE TABLE turn (one boolean PRIMARY KEY CHECK (one))",
    "INSERT INTO turn VALUES (true)",
    "CREATE SEQUENCE worker_number",
    "CREATE SEQUENCE fence",
    "CREATE TABLE intake (enqueuer text PRIMARY KEY, batch bigint NOT NULL, added bigint NOT NULL, at bigint NOT NULL)",
    "CREATE INDEX intake_at ON intake (at)",
    """
    CREATE TABLE event (id bigint NOT NULL, stage smallint NOT NULL, slot integer NOT NULL, attempt integer NOT NULL, moment bigint NOT NULL,
      text text NOT NULL, PRIMARY KEY (id, stage, slot))
    """,
    """
    CREATE FUNCTION clock_us() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL RESTRICTED
      AS 'SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint'
    """,
    PostgreSQLQueue.function,
  ]
}
