internal import AttacheQueue

/// Checks that a server can hold a queue, and creates or finds the queue's schema.
struct SchemaOpening {
  private let pool: SessionPool
  private let schema: String

  init(_ pool: SessionPool, _ schema: String) {
    (self.pool, self.schema) = (pool, schema)
  }

  private static let lookUp = Statement(
    "look_up",
    """
    SELECT to_regclass($1::text || '.queue') IS NOT NULL, EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1::text)
    """)
  private static let version = Statement("version", "SELECT version, identity FROM queue")
  /// A lock that the server grants but does not list belongs to a look-alike of PostgreSQL, or to
  /// a pooler that gives each transaction another session.
  private static let lock = Statement("probe_lock", "SELECT pg_try_advisory_lock_shared($1::bigint)")
  private static let findLock = Statement(
    "find_lock",
    """
    SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND \(WorkerPresence.key) = $1::bigint
    """)
  private static let unlock = Statement("probe_unlock", "SELECT pg_advisory_unlock_shared($1::bigint)")

  /// Opens or creates the queue.
  ///
  /// - Returns: the queue's identity.
  func run(creates: Bool) throws(QueueError) -> String {
    let check = try pool.callOnce { attempt throws(SessionError) in try Self.check(attempt.session, attempt) }
    if let problem = check { throw .unavailable("\(pool.name): \(problem)") }
    var state = try find()
    if !state.exists, creates {
      try create(state.hasSchema)
      state = try find()
    }
    guard state.exists else { throw .unavailable("\(pool.name): there is no such queue; `attache enqueue` creates one") }
    let (version, identity) = try pool.callOnce { attempt throws(SessionError) in
      let rows = try attempt.run([Execution(Self.version)])[0]
      return (rows.integer(0, 0), rows.text(0, 1))
    }
    guard version == Schema.version else { throw .otherVersion(pool.name, found: version, needed: Schema.version) }
    return identity
  }

  /// Returns what makes a server unsuitable; nil when nothing does.
  private static func check(_ session: Session, _ attempt: SessionPool.Attempt) throws(SessionError) -> String? {
    guard session.version >= 130_000 else { return "the server is older than PostgreSQL 13; use a later one" }
    guard session.setting("server_encoding") == "UTF8" else {
      return "the encoding of the database is not UTF8; create it with ENCODING 'UTF8' TEMPLATE template0"
    }
    let key = Parameter.integer(WorkerPresence.randomKey)
    _ = try attempt.run([Execution(lock, key)])
    // Between two transactions, a pooler may choose another session.
    let locks = try attempt.run([Execution(findLock, key)])[0].integer(0, 0)
    _ = try attempt.run([Execution(unlock, key)])
    guard locks == 1 else {
      return "the server does not keep a session's advisory locks: it is no PostgreSQL, or a pooler that does not pool by session"
    }
    return nil
  }

  private func find() throws(QueueError) -> (exists: Bool, hasSchema: Bool) {
    try pool.callOnce { attempt throws(SessionError) in
      let rows = try attempt.run([Execution(Self.lookUp, .text(schema))])[0]
      return (rows.flag(0, 0), rows.flag(0, 1))
    }
  }

  /// Creates the tables. When another process does so at the same time, one of the two waits for the
  /// other's commit and then fails, because the names exist.
  private func create(_ hasSchema: Bool) throws(QueueError) {
    do throws(QueueError) {
      try pool.callOnce { attempt throws(SessionError) in
        var steps: [Execution] = []
        // A plain role may have been given a schema, and no right to create one.
        if !hasSchema { steps.append(Execution(Statement("", "CREATE SCHEMA \(schema)"))) }
        steps += Schema.statements.map { Execution($0) }
        _ = try attempt.run(steps, isSynchronous: true)
      }
    } catch {
      if try find().exists { return }
      throw error
    }
  }
}
