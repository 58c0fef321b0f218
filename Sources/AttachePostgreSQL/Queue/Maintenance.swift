internal import Attache
internal import AttacheQueue
internal import Synchronization

/// The statements that look after leases: those of workers that have gone, those that ran out, and
/// rows that are due.
struct Maintenance: Sendable {
  private let check: Statement
  /// Extends the leases of the caller that ran out.
  private let keep: Statement
  /// Frees rows whose leases ran out.
  private let expireLeases: Statement
  /// Frees rows that waited for another attempt.
  private let endDelays: Statement
  /// Frees rows that waited for their time.
  private let startDue: Statement

  static let work = Maintenance(.work)
  static let result = Maintenance(.result)

  /// How many rows a statement changes, so that no transaction is long.
  private static let portion = 10_000

  private static let markAbsent = Statement(
    "mark_absent",
    """
    WITH present AS MATERIALIZED \(WorkerPresence.present),
      changed AS MATERIALIZED (
        SELECT number, number IN (SELECT * FROM present) AS is_present FROM worker
        WHERE (absent_since IS NULL) <> (number IN (SELECT * FROM present)) FOR UPDATE SKIP LOCKED)
    UPDATE worker w SET absent_since = CASE WHEN is_present THEN NULL ELSE coalesce($1::bigint, clock_us()) END
    FROM changed c WHERE w.number = c.number
    """)

  /// A deliverer's death is never counted, because a deliverer does not parse what it delivers.
  private static let takeOverLeases = Statement(
    "take_over",
    """
    WITH gone AS MATERIALIZED (
        SELECT number FROM worker WHERE absent_since <= (SELECT coalesce($1::bigint, clock_us())) - $2::bigint FOR UPDATE SKIP LOCKED),
      freed AS (
        UPDATE work SET state = \(LeaseTable.ready(deaths: "deaths + 1")), deaths = deaths + 1, deaths_alone = deaths_alone + alone::integer,
          taken_from = CASE WHEN alone THEN -worker ELSE worker END, \(LeaseTable.freed)
        WHERE state = 3 AND EXISTS (SELECT 1 FROM gone) AND worker IN (SELECT number FROM gone) RETURNING 1),
      undelivered AS (
        UPDATE result SET state = \(LeaseTable.ready()), \(LeaseTable.freed)
        WHERE state = 3 AND EXISTS (SELECT 1 FROM gone) AND worker IN (SELECT number FROM gone) RETURNING 1),
      \(Tally.fold("IN (SELECT number FROM gone) OR worker > 0 AND NOT EXISTS (SELECT 1 FROM worker w WHERE w.number = tally.worker)")),
      deleted AS (DELETE FROM worker WHERE number IN (SELECT number FROM gone) RETURNING 1)
    SELECT (SELECT count(*) FROM freed) + (SELECT count(*) FROM undelivered)
    """)

  private init(_ table: LeaseTable) {
    let name = table.rawValue
    check = Statement(
      table == .work ? "check_work" : "check_result",
      """
      WITH now AS MATERIALIZED (SELECT coalesce($1::bigint, clock_us()) AS uptime, coalesce($2::bigint, clock_us()) AS wall)
      SELECT EXISTS (SELECT 1 FROM \(name) WHERE state = 3 AND until <= (SELECT uptime FROM now))
          OR EXISTS (SELECT 1 FROM \(name) WHERE state = 2 AND until <= (SELECT uptime FROM now))
          OR EXISTS (SELECT 1 FROM \(name) WHERE state = 2 AND moment <= (SELECT wall FROM now)),
        EXISTS (SELECT 1 FROM worker WHERE absent_since IS NOT NULL OR number NOT IN \(WorkerPresence.present))
      """)
    keep = Statement(
      table == .work ? "keep_work" : "keep_result",
      """
      UPDATE \(name) SET until = coalesce($1::bigint, clock_us()) + $3::bigint
      WHERE state = 3 AND until <= (SELECT coalesce($1::bigint, clock_us())) AND worker = $2::bigint
      """)
    expireLeases = Self.free(
      table, table == .work ? "expire_work" : "expire_result",
      """
      state = 3 AND until <= (SELECT coalesce($1::bigint, clock_us()))
        AND NOT EXISTS (SELECT 1 FROM worker WHERE number = t.worker AND absent_since IS NOT NULL)
      """, LeaseTable.freed, ["ready": "count(*)", "leased": "-count(*)"])
    let waited = ["ready": "count(*)", "waiting": "-count(*)"]
    endDelays = Self.free(
      table, table == .work ? "end_delay_work" : "end_delay_result", "state = 2 AND until <= (SELECT coalesce($1::bigint, clock_us()))",
      "until = NULL, moment = NULL",
      waited)
    startDue = Self.free(
      table, table == .work ? "start_work" : "start_result", "state = 2 AND moment <= (SELECT coalesce($1::bigint, clock_us()))",
      "until = NULL, moment = NULL",
      waited)
  }

  private static func free(
    _ table: LeaseTable, _ label: StaticString, _ condition: String, _ change: String, _ counted: [String: String]
  ) -> Statement {
    let count = table == .work ? ", counted AS (\(Tally.add("0", .claims, counted, from: "freed")))" : ""
    return Statement(
      label,
      """
      WITH freed AS (
          UPDATE \(table.rawValue) SET state = \(LeaseTable.ready()), \(change) WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM \(table.rawValue) t WHERE \(condition) LIMIT \(portion) FOR UPDATE SKIP LOCKED)) RETURNING 1)\(count)
      SELECT count(*) FROM freed
      """)
  }

  private static let tidies = [
    Statement("tidy_finished", "DELETE FROM finished WHERE second < (SELECT coalesce($1::bigint, clock_us())) / 1000000 - 120"),
    // An enqueuer repeats a call within its time-out, which is far shorter.
    Statement("tidy_intake", "DELETE FROM intake WHERE at < (SELECT coalesce($1::bigint, clock_us())) - 86400000000"),
  ]

  /// Deletes what is no longer needed.
  static func tidy(_ attempt: SessionPool.Attempt, wall: Parameter) throws(SessionError) {
    _ = try attempt.run(tidies.map { Execution($0, wall) }, isSynchronous: false)
  }

  /// Looks after the leases of a table.
  ///
  /// - Returns: whether rows became ready.
  func run(
    _ attempt: SessionPool.Attempt, worker: Int64, span: Duration, absence: Duration, uptime: Parameter, wall: Parameter,
    isSynchronous: Bool
  ) throws(SessionError) -> Bool {
    let found = try attempt.run([Execution(check, uptime, wall)])[0]
    var count: Int64 = 0
    if found.flag(0, 1) {
      count += try attempt.run(
        [Execution(Self.markAbsent, uptime), Execution(Self.takeOverLeases, uptime, .integer(absence.microseconds))],
        isSynchronous: isSynchronous)[1]
        .integer(0, 0)
    }
    if found.flag(0, 0) {
      let rows = try attempt.run(
        [
          Execution(keep, uptime, .integer(worker), .integer(span.microseconds)), Execution(expireLeases, uptime),
          Execution(endDelays, uptime),
          Execution(startDue, wall),
        ], isSynchronous: isSynchronous)
      count += rows[1...].reduce(0) { $0 + $1.integer(0, 0) }
    }
    return count > 0
  }
}

extension PostgreSQLQueue {
  /// Looks after the leases of a table, if that is due.
  ///
  /// - Parameter isDue: whether to look although this handle looked a moment ago.
  /// - Returns: whether rows became ready.
  @discardableResult
  func keepUp(_ table: LeaseTable, _ worker: Int64, span: Duration, isDue: Bool = false) throws(QueueError) -> Bool {
    let now = MonotonicInstant.now
    let (begins, tidies) = counters.withLock { counters in
      let sinceLast = counters.upkeeps[table]?.duration(to: now) ?? .seconds(3_600)
      guard sinceLast >= (isDue ? min(Self.leastPause, upkeepTimes.interval) : upkeepTimes.interval) else { return (false, false) }
      counters.upkeeps[table] = now
      // What another worker freed lies before the floor.
      counters.floors[table] = nil
      let tidies = counters.tidied.map { $0.duration(to: now) >= Self.tidyingPause } ?? true
      if tidies { counters.tidied = now }
      return (true, tidies)
    }
    guard begins else { return false }
    let upkeep = table == .work ? Maintenance.work : .result
    return try pool.call { attempt throws(SessionError) in
      if tidies { try Maintenance.tidy(attempt, wall: wall) }
      return try upkeep.run(
        attempt, worker: worker, span: span, absence: presence.allowedAbsence(upkeepTimes), uptime: uptime, wall: wall,
        isSynchronous: isSynchronous(isOfLease: true))
    }
  }

  /// Makes payloads and results ready that holders have lost, or that are due.
  func freeLost() throws(QueueError) {
    try pool.call { attempt throws(SessionError) in
      for upkeep in [Maintenance.work, .result] {
        _ = try upkeep.run(
          attempt, worker: 0, span: .zero, absence: presence.allowedAbsence(upkeepTimes), uptime: uptime, wall: wall,
          isSynchronous: isSynchronous(isOfLease: true))
      }
    }
  }

  /// How soon a claim that found nothing looks again.
  private static let leastPause = Duration.milliseconds(100)
  private static let tidyingPause = Duration.seconds(60)
}
