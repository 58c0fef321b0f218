internal import Attache
internal import AttacheQueue

/// The statements that lease rows of a table.
struct ClaimStatements: Sendable {
  /// How long a caller that found nothing waits at least, unless something is ready.
  static let leastPause = Duration.milliseconds(50)
  /// The most rows of any call.
  static let limit = 100_000

  private let table: LeaseTable
  private let ready: Statement
  private let suspect: Statement
  private let former: Statement
  private let remainder: Statement
  private let undo: Statement

  static let work = ClaimStatements(
    .work, line: "CASE WHEN w.bytes <= \(Lease.maximumLine) THEN p.line END", joins: "JOIN payload p ON p.id = w.id",
    counted: ["ready": "-count(*)", "leased": "count(*)"])
  static let result = ClaimStatements(
    .result, line: "coalesce(o.line, p.line)", joins: "JOIN payload p ON p.id = w.id JOIN output o ON o.id = w.id", counted: [:])

  /// - Parameters:
  ///   - line: the SQL expression for the line. It may use `w`, the leased row, and the tables of
  ///     `joins`.
  ///   - counted: the changes of the tally, by column.
  private init(_ table: LeaseTable, line: String, joins: String, counted: [String: String]) {
    self.table = table
    let ofResult = table == .result ? ", w.outcome, w.reason, w.finished_at, w.tried_for" : ""
    // The lines are joined last, because each step copies its rows.
    let selected = "\(Self.columns), p.expires_at, \(line)\(ofResult)"
    func claim(_ label: StaticString, state: Int) -> Statement {
      Self.claim(label, table, state: state, returned: Self.columns + ofResult, counted, "\(selected) FROM taken w \(joins)")
    }
    ready = claim(table == .work ? "claim_work" : "claim_result", state: 0)
    suspect = claim(table == .work ? "claim_suspect" : "claim_suspect_result", state: 1)
    former = Statement(
      table == .work ? "former_work" : "former_result",
      """
      SELECT 0, \(selected) FROM tally t JOIN \(table.rawValue) w ON w.state = 3 AND w.worker = t.worker AND w.fence = t.fence \(joins)
      WHERE t.worker = $1::bigint AND t.part = \(TallyPart.numbering(of: table)) AND t.call = $2::bigint
      """)
    undo = Self.undo(table, isCounted: !counted.isEmpty)
    remainder = Self.remainder(table)
  }

  private static let columns = "w.id, w.rank, w.fence, w.bytes, w.attempts, w.deaths, w.deaths_alone"

  private static func claim(
    _ label: StaticString, _ table: LeaseTable, state: Int, returned: String, _ counted: [String: String], _ selected: String
  ) -> Statement {
    let (name, order) = (table.rawValue, table.order)
    let moment = table == .result ? "finished_at" : "$6::bigint"
    let position = table == .result ? "(rank, finished_at, id)" : "(rank, id)"
    let floor = table == .result ? "($5::bigint, $6::bigint, $7::bigint)" : "($5::bigint, $7::bigint)"
    let limit = "CASE WHEN EXISTS (\(Self.paused(table))) THEN 0 ELSE $1::bigint + 1 END"
    // Lines that are too long are not handed out, and take no room.
    let room = table == .work ? "CASE WHEN bytes <= \(Lease.maximumLine) THEN bytes ELSE 0 END" : "bytes"
    let counting = counted.isEmpty ? "" : "counted AS (\(Tally.add("$3::bigint", .claims, counted, from: "taken"))),\n  "
    return Statement(
      label,
      """
      WITH before AS MATERIALIZED (
          SELECT ctid AS place, id, rank, bytes, \(moment) AS finished_at FROM \(name) WHERE state = \(state) AND rank < $5::bigint
          ORDER BY \(order) LIMIT \(limit) FOR UPDATE SKIP LOCKED),
        behind AS MATERIALIZED (
          SELECT ctid AS place, id, rank, bytes, \(moment) AS finished_at FROM \(name) WHERE state = \(state) AND \(position) > \(floor)
          ORDER BY \(order) LIMIT \(limit) - (SELECT count(*) FROM before) FOR UPDATE SKIP LOCKED),
        picked AS MATERIALIZED (
          SELECT place, row_number() OVER (ORDER BY \(order)) AS number, sum(\(room)) OVER (ORDER BY \(order)) AS total
          FROM (SELECT * FROM before UNION ALL SELECT * FROM behind) AS both_parts),
        fenced AS MATERIALIZED (SELECT nextval('fence') AS fence WHERE EXISTS (SELECT 1 FROM picked)),
        taken AS (
          UPDATE \(name) w SET state = 3, worker = $3::bigint, fence = (SELECT fence FROM fenced), alone = \(state == 1),
            until = coalesce($8::bigint, clock_us()) + $4::bigint
          WHERE w.ctid = ANY (ARRAY(SELECT place FROM picked WHERE number <= $1::bigint AND (total <= $2::bigint OR number = 1)))
          RETURNING \(returned)),
        \(counting)numbered AS (
          \(Self.numbering(table, worker: "$3::bigint", call: "$9::bigint")))
      SELECT (SELECT count(*) FROM picked), \(selected)
      """)
  }

  private static func undo(_ table: LeaseTable, isCounted: Bool) -> Statement {
    let count = isCounted ? ", counted AS (\(Tally.add("0", .claims, ["ready": "count(*)", "leased": "-count(*)"], from: "freed")))" : ""
    return Statement(
      table == .work ? "undo_work" : "undo_result",
      """
      WITH freed AS (
          UPDATE \(table.rawValue) SET state = \(LeaseTable.ready()), \(LeaseTable.freed)
          WHERE state = 3 AND worker = $1::bigint
            AND fence = (SELECT fence FROM tally WHERE worker = $1::bigint AND part = \(TallyPart.numbering(of: table)) AND call = $2::bigint)
          RETURNING 1)\(count)
      SELECT count(*) FROM freed
      """)
  }

  private static func remainder(_ table: LeaseTable) -> Statement {
    let name = table.rawValue
    return Statement(
      table == .work ? "remainder_work" : "remainder_result",
      """
      SELECT EXISTS (SELECT 1 FROM \(name) WHERE state = 0), EXISTS (SELECT 1 FROM \(name) WHERE state = 1),
        EXISTS (SELECT 1 FROM \(name) \(table == .result ? "WHERE state IS NOT NULL" : "")),
        least((SELECT min(until) FROM \(name) WHERE state = 3), (SELECT min(until) FROM \(name) WHERE state = 2)) - coalesce($1::bigint, clock_us()),
        (SELECT min(moment) FROM \(name) WHERE state = 2) - coalesce($2::bigint, clock_us()), pause.since, pause.reason
      FROM (SELECT 1) AS one LEFT JOIN pause ON pause.stage = \(table.stage.rawValue)
      """)
  }

  /// Returns a query of a row if an operator has paused the table's stage.
  static func paused(_ table: LeaseTable) -> String { "SELECT 1 FROM pause WHERE stage = \(table.stage.rawValue)" }

  /// Returns an `INSERT` that records the fence of a worker's last claim, which `fenced` has.
  static func numbering(_ table: LeaseTable, worker: String, call: String) -> String {
    """
    INSERT INTO tally (worker, part, call, fence) SELECT \(worker), \(TallyPart.numbering(of: table)), \(call), fence FROM fenced
    ON CONFLICT (worker, part) DO UPDATE SET call = excluded.call, fence = excluded.fence
    """
  }

  /// A leased row.
  struct Row {
    let rows: Rows
    let index: Int

    var id: Int64 { rows.integer(index, 1) }
    var rank: Int64 { rows.integer(index, 2) }
    var token: LeaseToken { LeaseToken(id: id, fence: rows.integer(index, 3)) }
    var attempt: Int { Int(rows.integer(index, 5)) + 1 }
    var deaths: Int { Int(rows.integer(index, 6)) }
    var deathsAlone: Int { Int(rows.integer(index, 7)) }
    var expiresAt: Duration? { rows.integerIfAny(index, 8).map { .microseconds($0) } }
    var line: [UInt8]? { rows.isNull(index, 9) ? nil : rows.bytes(index, 9) }
    /// Of a result.
    var outcome: Outcome { Outcome(rawValue: rows.text(index, 10)) ?? .fallback }
    var reason: Reason? { rows.textIfAny(index, 11).flatMap(Reason.init(rawValue:)) }
    var finishedAt: Int64 { rows.integer(index, 12) }
    var triedFor: Duration { .microseconds(rows.integer(index, 13)) }
  }

  /// What a claim found.
  struct Claimed {
    /// The rows in the order in which they are claimed (``LeaseTable/order``).
    var rows: [Row]
    /// Whether more rows are ready than were taken.
    var hasMore: Bool

    fileprivate init(_ rows: Rows, of table: LeaseTable, hasMore: Bool) {
      self.rows = (0..<rows.count).map { Row(rows: rows, index: $0) }
        .map { (row: $0, sortKey: ($0.rank, table == .result ? $0.finishedAt : 0, $0.id)) }
        .sorted { $0.sortKey < $1.sortKey }
        .map(\.row)
      self.hasMore = hasMore
    }
  }

  /// The state of the rows that were not taken.
  struct Remainder {
    var isReady: Bool
    var hasSuspects: Bool
    /// Whether any row is left.
    var hasAny: Bool
    /// The operator's pause.
    var pause: QueuePause?
    /// How long until a row may become ready; nil when none waits or is leased.
    var wait: Duration?

    /// When to ask again: at once if a row is ready, else after the wait, but long enough that a caller does not ask without pause while leases that ran out
    /// must not be taken over yet.
    var next: Duration? {
      if pause != nil { return hasAny ? QueuePause.poll : nil }
      return isReady || hasSuspects ? .zero : wait.map { max($0, ClaimStatements.leastPause) }
    }
  }

  /// Leases the first rows that are ready.
  ///
  /// - Parameter call: numbers the worker's claims, so that a repeated call finds what it leased.
  func run(
    _ attempt: SessionPool.Attempt, limit: Int, bytes: Int, span: Duration, isAlone: Bool, worker: Int64, call: Int64,
    floor: PostgreSQLQueue.Floor?, uptime: Parameter, isSynchronous: Bool
  ) throws(SessionError) -> Claimed {
    let limit = min(max(0, isAlone ? min(1, limit) : limit), Self.limit)
    if attempt.isRepeated {
      let rows = try attempt.run([Execution(former, .integer(worker), .integer(call))])[0]
      if rows.count > 0 { return Claimed(rows, of: table, hasMore: true) }
    }
    let execution = Execution(
      isAlone ? suspect : ready, .integer(Int64(limit)), .integer(Int64(bytes)), .integer(worker), .integer(span.microseconds),
      .integer(floor?.rank ?? .min), .integer(floor?.moment ?? .min), .integer(floor?.id ?? .min), uptime, .integer(call))
    let rows = try attempt.run([execution], isSynchronous: isSynchronous)[0]
    let picked = rows.count > 0 ? rows.integer(0, 0) : 0
    return Claimed(rows, of: table, hasMore: picked > Int64(rows.count))
  }

  /// Frees what a claim leased whose caller never got its leases.
  func undo(_ attempt: SessionPool.Attempt, worker: Int64, call: Int64, isSynchronous: Bool) throws(SessionError) {
    _ = try attempt.run([Execution(undo, .integer(worker), .integer(call))], isSynchronous: isSynchronous)
  }

  func remainder(_ attempt: SessionPool.Attempt, uptime: Parameter, wall: Parameter) throws(SessionError) -> Remainder {
    let rows = try attempt.run([Execution(remainder, uptime, wall)])[0]
    let waits = [rows.integerIfAny(0, 3), rows.integerIfAny(0, 4)].compactMap(\.self)
    let pause = rows.integerIfAny(0, 5).map { QueuePause(table.stage, since: .microseconds($0), reason: rows.textIfAny(0, 6)) }
    return Remainder(
      isReady: rows.flag(0, 0), hasSuspects: rows.flag(0, 1), hasAny: rows.flag(0, 2), pause: pause,
      wait: waits.min().map { .microseconds(max(0, $0)) })
  }
}

extension TallyPart {
  /// The part that numbers the claims of a table. It counts nothing.
  fileprivate static func numbering(of table: LeaseTable) -> Int { table == .work ? 10 : 12 }
}
