internal import Attache
package import AttacheQueue

extension PostgreSQLQueue {
  package func counts() throws(QueueError) -> QueueCounts {
    try pool.call { attempt throws(SessionError) in
      let answers = try attempt.run([
        Execution(Self.count, uptime, wall, .integer(QueueCounts.recentSpan.components.seconds)), Execution(Self.pauses),
      ])
      let (rows, pauses) = (answers[0], answers[1])
      let oldest = try attempt.run([Execution(Self.oldest(now(rows.integer(0, 2))))])[0]
      func number(_ column: Int32) -> Int { Int(rows.integer(0, column)) }
      var counts = QueueCounts()
      for (index, state) in PayloadState.allCases.enumerated() { counts[state] = number(Int32(index) + 6) }
      let due = number(0)
      counts[.ready] += due
      counts[.waiting] -= due
      (counts.delivering, counts.unread) = (number(1), number(5))
      for (index, state) in PayloadSearch.agingStates.enumerated() {
        counts.oldest[state] = oldest.integerIfAny(0, Int32(index)).map { .microseconds(max(0, rows.integer(0, 2) - $0)) }
      }
      (counts.finishedLastMinute, counts.finishedLately) = (number(3), number(4))
      counts.pauses = (0..<pauses.count).compactMap { row in
        PayloadEvent.Stage(rawValue: pauses.integer(row, 0)).map {
          QueuePause($0, since: .microseconds(pauses.integer(row, 1)), reason: pauses.textIfAny(row, 2))
        }
      }
      return counts
    }
  }

  private static func oldest(_ now: PayloadSearch.Now) -> Statement {
    Statement("", PayloadSearch.queryOldest(undelivered: "SELECT min(id) FROM result WHERE state IS NOT NULL", now))
  }

  /// - Parameter wall: the server's time.
  private func now(_ wall: Int64) -> PayloadSearch.Now {
    let uptime = clock?.uptime.microseconds ?? wall
    return PayloadSearch.Now(wall: wall) { [("\($0)moment <= \(wall)", "work_moment"), ("\($0)until <= \(uptime)", "work_delayed")] }
  }

  private static let pauses = Statement("pauses", "SELECT stage, since, reason FROM pause ORDER BY stage")

  private static let count = Statement(
    "counts",
    """
    WITH now AS MATERIALIZED (SELECT coalesce($1::bigint, clock_us()) AS uptime, coalesce($2::bigint, clock_us()) AS wall),
      total AS MATERIALIZED (
        SELECT \(Tally.columns.map { "coalesce(sum(\($0)), 0)::bigint AS \($0)" }.joined(separator: ", ")) FROM tally),
      recent AS MATERIALIZED (
        SELECT coalesce(sum(count), 0)::bigint AS minute, coalesce(sum(count) FILTER (WHERE second > wall / 1000000 - $3::bigint), 0)::bigint AS lately
        FROM now LEFT JOIN finished ON second > wall / 1000000 - 60 AND second <= wall / 1000000)
    SELECT
      CASE WHEN waiting = 0 THEN 0 ELSE
        (SELECT count(*) FROM work, now WHERE state = 2 AND moment <= now.wall)
        + (SELECT count(*) FROM work, now WHERE state = 2 AND until <= now.uptime AND (moment IS NULL OR moment > now.wall)) END,
      (SELECT count(*) FROM result WHERE state = 3),
      (SELECT wall FROM now), minute, lately, unread, \(Tally.columns.dropLast().joined(separator: ", "))
    FROM total, recent
    """)

  // MARK: Histories

  package func find(_ filter: PayloadFilter, after id: Int64, limit: Int) throws(QueueError) -> PayloadMatches {
    try PayloadSearch.find(filter, after: id, limit: limit, .postgreSQL) { () throws(QueueError) in
      try pool.call { attempt throws(SessionError) in now(try attempt.run([Execution(Self.now, wall)])[0].integer(0, 0)) }
    } run: { query throws(QueueError) in
      let parameters = query.values.map { value -> Parameter in
        switch value {
        case .text(let text): .text(text)
        case .bytes(let bytes): .bytes(bytes)
        }
      }
      return try pool.call { attempt throws(SessionError) in
        let rows = try attempt.run([Execution(Statement("", query.sql), parameters)])[0]
        return (0..<rows.count).map { (rows.integer($0, 0), rows.integer($0, 1)) }
      }
    }
  }

  private static let now = Statement("now", "SELECT coalesce($1::bigint, clock_us())")

  package func histories(of ids: [Int64]) throws(QueueError) -> [PayloadHistory] {
    try pool.call { attempt throws(SessionError) in
      let both = try attempt.run([Execution(Self.payloads, .integers(ids), uptime, wall), Execution(Self.events, .integers(ids))])
      return Self.histories(both[0], tries: both[1])
    }
  }

  package func content(of id: Int64) throws(QueueError) -> PayloadContent? {
    try pool.call { attempt throws(SessionError) in
      let rows = try attempt.run([Execution(Self.contents, .integer(id))])[0]
      guard rows.count > 0 else { return nil }
      return PayloadContent(
        line: rows.bytes(0, 0), record: rows.isNull(0, 1) ? nil : rows.bytes(0, 1), output: rows.isNull(0, 2) ? nil : rows.bytes(0, 2))
    }
  }

  private static let contents = Statement(
    "contents", "SELECT p.line, o.record, o.line FROM payload p LEFT JOIN output o ON o.id = p.id WHERE p.id = $1::bigint")
  private static let payloads = Statement(
    "histories",
    """
    SELECT p.id, p.priority, p.enqueued_at, p.not_before, p.expires_at, w.state, r.outcome, r.reason, r.dead, r.finished_at, r.state, r.status,
      r.answer, r.delivered_at, p.search_key, (SELECT number || '@' || name FROM worker WHERE number = coalesce(w.worker, r.worker)),
      least(coalesce(w.moment, r.moment), coalesce($3::bigint, clock_us()) + coalesce(w.until, r.until) - coalesce($2::bigint, clock_us())),
      coalesce($3::bigint, clock_us())
    FROM payload p LEFT JOIN work w ON w.id = p.id LEFT JOIN result r ON r.id = p.id WHERE p.id = ANY ($1::bigint[]) ORDER BY p.id
    """)
  private static let events = Statement(
    "events", "SELECT id, stage, attempt, moment, text FROM event WHERE id = ANY ($1::bigint[]) ORDER BY id, stage, attempt")

  private static func histories(_ rows: Rows, tries: Rows) -> [PayloadHistory] {
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
      history.searchKey = rows.isNull(row, 14) ? nil : rows.bytes(row, 14)
      (history.holder, history.dueAt) = (rows.textIfAny(row, 15), moment(16))
      let wall = Duration.microseconds(rows.integer(row, 17))
      guard let outcome = rows.textIfAny(row, 6) else {
        history.endWait(at: wall)
        return history
      }
      var result = PayloadHistory.Result(
        outcome: outcome, reason: rows.textIfAny(row, 7), isDead: rows.flag(row, 8), finishedAt: moment(9) ?? .zero)
      result.delivery = rows.integerIfAny(row, 10).map(PayloadHistory.Standing.init)
      result.status = result.delivery == nil ? rows.textIfAny(row, 11) ?? "read" : nil
      (result.answer, result.deliveredAt) = (rows.textIfAny(row, 12), moment(13))
      history.result = result
      history.endWait(at: wall)
      return history
    }
  }
}

extension PayloadSearch.Dialect {
  fileprivate static let postgreSQL = PayloadSearch.Dialect(
    key: { SHA256.hash($0).bytes }, undelivered: "r.state IS NOT NULL", queryUndelivered: "SELECT id FROM result WHERE state IS NOT NULL",
    position: "strpos", searchKeys: "payload",
    table: { name, _ in name },
    parameter: { number, value in
      switch value {
      case .text: "$\(number)::text"
      case .bytes: "$\(number)::bytea"
      }
    })
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
