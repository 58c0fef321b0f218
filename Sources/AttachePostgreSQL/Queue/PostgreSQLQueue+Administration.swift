package import Attache
package import AttacheQueue

extension PostgreSQLQueue {
  package func counts() throws(QueueError) -> QueueCounts {
    try pool.call { attempt throws(SessionError) in
      let rows = try attempt.run([Execution(Self.count, uptime, wall, .integer(QueueCounts.recentSpan.components.seconds))])[0]
      func number(_ column: Int32) -> Int { Int(rows.integer(0, column)) }
      func age(_ column: Int32) -> Duration? { rows.integerIfAny(0, column).map { .microseconds(max(0, $0)) } }
      var counts = QueueCounts()
      let due = number(6)
      counts.ready = number(0) + due
      counts.waiting = number(1) - due
      (counts.leased, counts.done, counts.dead, counts.unread) = (number(2), number(3), number(4), number(5))
      counts.delivering = number(7)
      (counts.oldest, counts.oldestUndelivered) = (age(8), age(9))
      (counts.finishedLastMinute, counts.finishedLately) = (number(10), number(11))
      return counts
    }
  }

  private static let count = Statement(
    "counts",
    """
    WITH now AS MATERIALIZED (SELECT coalesce($1::bigint, clock_us()) AS uptime, coalesce($2::bigint, clock_us()) AS wall),
      total AS MATERIALIZED (
        SELECT coalesce(sum(ready), 0) AS ready, coalesce(sum(waiting), 0) AS waiting, coalesce(sum(leased), 0) AS leased,
          coalesce(sum(done), 0) AS done, coalesce(sum(dead), 0) AS dead, coalesce(sum(unread), 0) AS unread FROM tally),
      recent AS MATERIALIZED (
        SELECT coalesce(sum(count), 0)::bigint AS minute, coalesce(sum(count) FILTER (WHERE second > wall / 1000000 - $3::bigint), 0)::bigint AS lately
        FROM now LEFT JOIN finished ON second > wall / 1000000 - 60 AND second <= wall / 1000000)
    SELECT ready::bigint, waiting::bigint, leased::bigint, done::bigint, dead::bigint, unread::bigint,
      CASE WHEN waiting = 0 THEN 0 ELSE
        (SELECT count(*) FROM work, now WHERE state = 2 AND moment <= now.wall)
        + (SELECT count(*) FROM work, now WHERE state = 2 AND until <= now.uptime AND (moment IS NULL OR moment > now.wall)) END,
      (SELECT count(*) FROM result WHERE state = 3),
      (SELECT wall FROM now) - (SELECT enqueued_at FROM payload WHERE id = (SELECT min(id) FROM work)),
      (SELECT wall FROM now) - (SELECT enqueued_at FROM payload WHERE id = (SELECT min(id) FROM result WHERE state IS NOT NULL)),
      minute, lately
    FROM total, recent
    """)

  package func retry(_ reason: Reason?) throws(QueueError) -> Int {
    forgetFloor(.work)
    return try inSteps { last in
      Execution(Self.requeue, .text(Outcome.fallback.rawValue), .text(reason?.rawValue), .integer(last), .integer(Self.step))
    }
  }

  /// The number of rows that one transaction of an administrator's call changes, so that none is long.
  package static let step: Int64 = 10_000

  /// Runs transactions until no row is left to change.
  ///
  /// - Parameter execution: returns the statement of a transaction, which gets the largest id so far.
  ///   It changes at most ``step`` rows with larger ids, and returns their number and their largest
  ///   id.
  /// - Returns: the number of changed rows.
  func inSteps(_ execution: (_ last: Int64) -> Execution) throws(QueueError) -> Int {
    var (sum, last) = (0 as Int64, 0 as Int64)
    while true {
      let statement = execution(last)
      let rows: Rows
      do throws(QueueError) {
        rows = try pool.call { attempt throws(SessionError) in
          try attempt.run([statement], isSynchronous: isSynchronous(isOfLease: false))[0]
        }
      } catch {
        throw sum > 0 ? error.adding("\(sum) payloads were changed before; repeat the command") : error
      }
      let count = rows.integer(0, 0)
      (sum, last) = (sum + count, rows.integer(0, 1))
      guard count == Self.step else { return Int(sum) }
    }
  }

  private static let requeue = Statement(
    "retry",
    """
    WITH failed AS MATERIALIZED (
        SELECT id FROM result
        WHERE CASE WHEN $2::text IS NULL THEN outcome = $1::text OR dead ELSE reason = $2::text END AND state IS DISTINCT FROM 3 AND id > $3::bigint
        ORDER BY id LIMIT $4::bigint FOR UPDATE),
      gone AS (DELETE FROM result WHERE id = ANY (ARRAY(SELECT id FROM failed)) RETURNING id, dead, state IS NOT NULL AS unread),
      unwritten AS (DELETE FROM output o USING gone WHERE o.id = gone.id),
      again AS (
        INSERT INTO work (id, state, rank, bytes)
        SELECT p.id, 0, -greatest(p.priority, -9223372036854775807), octet_length(p.line) FROM gone, payload p WHERE p.id = gone.id),
      counted AS (
        \(Tally.add("0", .claims, [
          "ready": "count(*)", "done": "-count(*) FILTER (WHERE NOT dead)", "dead": "-count(*) FILTER (WHERE dead)",
          "unread": "-count(*) FILTER (WHERE unread)",
        ], from: "gone")))
    SELECT count(*), (SELECT coalesce(max(id), $3::bigint) FROM failed) FROM gone
    """)

  package func purge(olderThan age: Duration, includesUndelivered: Bool) throws(QueueError) -> (payloads: Int, released: [String]) {
    let before = clock.map { ($0.wall - age).microseconds }
    let payloads = try inSteps { last in
      Execution(
        Self.deleteOld, .integer(before), .integer(age.microseconds), .boolean(includesUndelivered), .integer(Self.step), .integer(last))
    }
    return (payloads, [])
  }

  private static let deleteOld = Statement(
    "purge",
    """
    WITH old AS MATERIALIZED (
        SELECT id FROM result WHERE finished_at <= coalesce($1::bigint, clock_us() - $2::bigint)
          AND (state IS NULL OR $3::boolean AND state <> 3) AND id > $5::bigint ORDER BY id LIMIT $4::bigint
        FOR UPDATE SKIP LOCKED),
      gone AS (DELETE FROM result WHERE id = ANY (ARRAY(SELECT id FROM old)) RETURNING id, dead, state IS NOT NULL AS unread),
      unwritten AS (DELETE FROM output WHERE id = ANY (ARRAY(SELECT id FROM old))),
      forgotten AS (DELETE FROM payload WHERE id = ANY (ARRAY(SELECT id FROM old))),
      uneventful AS (DELETE FROM event WHERE id = ANY (ARRAY(SELECT id FROM old))),
      counted AS (
        \(Tally.add("0", .claims, [
          "done": "-count(*) FILTER (WHERE NOT dead)", "dead": "-count(*) FILTER (WHERE dead)", "unread": "-count(*) FILTER (WHERE unread)",
        ], from: "gone")))
    SELECT count(*), (SELECT coalesce(max(id), $5::bigint) FROM old) FROM gone
    """)

  // MARK: Histories

  package func history(of name: PayloadName) throws(QueueError) -> PayloadHistory? {
    try pool.call { attempt throws(SessionError) in
      let (byNumber, parameter) =
        switch name {
        case .number(let number): (true, Parameter.integer(number))
        case .key(let key): (false, .bytes(SHA256.hash(key).bytes))
        }
      let found = try attempt.run([Execution(byNumber ? Self.findNumber : Self.findKey, parameter)])[0]
      guard found.count > 0 else { return nil }
      return try Self.histories([found.integer(0, 0)], attempt).first
    }
  }

  package func poisoned(after id: Int64, limit: Int) throws(QueueError) -> [PayloadHistory] {
    try pool.call { attempt throws(SessionError) in
      let rows = try attempt.run([Execution(Self.poison, .integer(id), .integer(Int64(min(max(0, limit), ClaimStatements.limit))))])[0]
      return try Self.histories((0..<rows.count).map { rows.integer($0, 0) }, attempt)
    }
  }

  private static let findNumber = Statement("find_number", "SELECT id FROM payload WHERE id = $1::bigint")
  private static let findKey = Statement("find_key", "SELECT id FROM payload WHERE key = $1::bytea")
  private static let poison = Statement(
    "poison", "SELECT id FROM result WHERE (dead OR status = 'poison') AND id > $1::bigint ORDER BY id LIMIT $2::bigint")
  private static let payloads = Statement(
    "histories",
    """
    SELECT p.id, p.priority, p.enqueued_at, p.not_before, p.expires_at, w.state, r.outcome, r.reason, r.dead, r.finished_at, r.state, r.status,
      r.answer, r.delivered_at
    FROM payload p LEFT JOIN work w ON w.id = p.id LEFT JOIN result r ON r.id = p.id WHERE p.id = ANY ($1::bigint[]) ORDER BY p.id
    """)
  private static let events = Statement(
    "events", "SELECT id, stage, attempt, moment, text FROM event WHERE id = ANY ($1::bigint[]) ORDER BY id, stage, attempt")

  private static func histories(_ ids: [Int64], _ attempt: SessionPool.Attempt) throws(SessionError) -> [PayloadHistory] {
    let both = try attempt.run([Execution(payloads, .integers(ids)), Execution(events, .integers(ids))])
    let (rows, tries) = (both[0], both[1])
    var events: [Int64: [PayloadEvent]] = [:]
    for row in 0..<tries.count {
      guard let stage = PayloadEvent.Stage(rawValue: tries.integer(row, 1)) else { continue }
      events[tries.integer(row, 0), default: []].append(
        PayloadEvent(
          stage: stage, attempt: Int(tries.integer(row, 2)), moment: .microseconds(tries.integer(row, 3)), text: tries.text(row, 4)))
    }
    return (0..<rows.count).map { row in
      func moment(_ column: Int32) -> Duration? { rows.integerIfAny(row, column).map { .microseconds($0) } }
      var history = PayloadHistory(id: rows.integer(row, 0), enqueuedAt: moment(2) ?? .zero)
      history.priority = Int(rows.integer(row, 1))
      (history.notBefore, history.expiresAt) = (moment(3), moment(4))
      history.work = rows.integerIfAny(row, 5).map(PayloadHistory.Standing.init)
      history.tries = events[history.id] ?? []
      guard let outcome = rows.textIfAny(row, 6) else { return history }
      var result = PayloadHistory.Result(
        outcome: outcome, reason: rows.textIfAny(row, 7), isDead: rows.flag(row, 8), finishedAt: moment(9) ?? .zero)
      result.delivery = rows.integerIfAny(row, 10).map(PayloadHistory.Standing.init)
      result.status = result.delivery == nil ? rows.textIfAny(row, 11) ?? "read" : nil
      (result.answer, result.deliveredAt) = (rows.textIfAny(row, 12), moment(13))
      history.result = result
      return history
    }
  }
}

extension PayloadHistory.Standing {
  fileprivate init(_ state: Int64) {
    self =
      switch state {
      case 2: .waiting
      case 3: .leased
      default: .ready
      }
  }
}
