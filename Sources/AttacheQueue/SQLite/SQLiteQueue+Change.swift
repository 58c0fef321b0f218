internal import Attache
internal import FoundationEssentials
internal import GRDB

extension SQLiteQueue {
  package func retry(_ ids: [Int64]) throws(QueueError) -> Int {
    try change(ids, where: "id NOT IN (SELECT id FROM delivery WHERE state = 3)") { connection, tally, rows in
      tally.forget(rows)
      try connection.run(
        """
        INSERT INTO work (id, state, rank, attempts, deaths, deaths_alone)
        SELECT id, 0, -max(priority, -9223372036854775807), 0, 0, 0 FROM payload WHERE id IN \(rows.list)
        """, rows)
      tally.ready += rows.ids.count
      try connection.run("INSERT OR IGNORE INTO hold SELECT 0, path FROM hold WHERE id IN \(rows.list)", rows)
      for table in ["hold", "output", "delivery", "result"] { try connection.run("DELETE FROM \(table) WHERE id IN \(rows.list)", rows) }
    }
  }

  package func redeliver(_ ids: [Int64]) throws(QueueError) -> Int {
    try change(ids, where: "status <> '\(DeliveryStatus.delivered.rawValue)'") { connection, tally, rows in
      tally.forget(rows)
      try connection.run(
        """
        INSERT INTO delivery (id, state, rank, decided, attempts, deaths, deaths_alone)
        SELECT result.id, 0, -max(priority, -9223372036854775807), finished_at, 0, 0, 0
        FROM result CROSS JOIN payload ON payload.id = result.id WHERE result.id IN \(rows.list)
        """, rows)
      try connection.run("UPDATE result SET read = 0, status = NULL, answer = NULL, delivered_at = NULL WHERE id IN \(rows.list)", rows)
      for row in rows.states { tally[row.isDead ? .dead : .done] += row.count }
      tally.unread += rows.ids.count
    }
  }

  package func purge(_ ids: [Int64], includesUndelivered: Bool) throws(QueueError) -> (payloads: Int, released: [String]) {
    let condition = includesUndelivered ? "id NOT IN (SELECT id FROM delivery WHERE state = 3)" : "read"
    var released: [String] = []
    let count = try change(ids, where: condition) { connection, tally, rows in
      tally.forget(rows)
      try connection.run("INSERT OR IGNORE INTO hold SELECT 0, path FROM hold WHERE id IN \(rows.list)", rows)
      try connection.run("DELETE FROM search WHERE (search_key, id) IN (SELECT search_key, id FROM payload WHERE id IN \(rows.list))", rows)
      for table in ["hold", "output", "delivery", "event", "payload", "result"] {
        try connection.run("DELETE FROM \(table) WHERE id IN \(rows.list)", rows)
      }
      released = try connection.takeOrphans()
    }
    return (count, released)
  }

  package func cancel(_ ids: [Int64], _ why: String) throws(QueueError) -> (payloads: Int, released: [String]) {
    var released: [String] = []
    var undecided = 0
    let now = clock.wall.microseconds
    let delivered = try change(ids, where: "id IN (SELECT id FROM delivery WHERE state <> 3)") { connection, tally, rows in
      for row in rows.states { for _ in 0..<row.count { tally.noteEnd(.cancelled, isDead: row.isDead) } }
      try connection.run(
        "UPDATE result SET read = 1, status = 'cancelled', answer = ?2, delivered_at = ?3 WHERE id IN \(rows.list)", rows,
        [PayloadEvent.bounded(why), now])
      try connection.run("INSERT OR IGNORE INTO hold SELECT 0, path FROM hold WHERE id IN \(rows.list)", rows)
      for table in ["hold", "delivery"] { try connection.run("DELETE FROM \(table) WHERE id IN \(rows.list)", rows) }
      released = try connection.takeOrphans()
    } before: { connection, tally in
      undecided = try connection.cancelWork(ids, PayloadEvent.bounded(why), at: now, &tally)
    }
    return (delivered + undecided, released)
  }

  package func pause(_ stage: PayloadEvent.Stage, why: String?) throws(QueueError) {
    try write { connection, _ in
      try connection.execute(
        sql: """
          INSERT INTO pause VALUES (?, ?, ?) ON CONFLICT (stage) DO UPDATE SET reason = coalesce(excluded.reason, reason)
          """,
        arguments: [stage.rawValue, clock.wall.microseconds, why.map(PayloadEvent.bounded)])
    }
  }

  package func resume(_ stage: PayloadEvent.Stage) throws(QueueError) -> Bool {
    try write { connection, _ in
      try connection.execute(sql: "DELETE FROM pause WHERE stage = ?", arguments: [stage.rawValue])
      return connection.changesCount > 0
    }
  }

  /// Changes rows of `result` in one transaction.
  ///
  /// - Parameters:
  ///   - condition: which of the rows are changed.
  ///   - before: runs first in the same transaction.
  /// - Returns: the number of rows.
  private func change(
    _ ids: [Int64], where condition: String, _ body: (Database, inout QueueTally, ResultRows) throws -> Void,
    before: (Database, inout QueueTally) throws -> Void = { _, _ in }
  ) throws(QueueError) -> Int {
    guard !ids.isEmpty else { return 0 }
    return try write { connection, tally in
      // What a process that has gone held is held no longer.
      let now = try QueueMoment(clock, connection)
      _ = try freeWork(connection, &tally, now)
      _ = try freeDeliveries(connection, now)
      let rows = try ResultRows(connection, ids, condition)
      try before(connection, &tally)
      if !rows.ids.isEmpty { try body(connection, &tally, rows) }
      return rows.ids.count
    }
  }
}

extension Database {
  /// Returns the pause of a stage; nil when it is not paused.
  func pause(of stage: PayloadEvent.Stage) throws -> QueuePause? {
    let select = try batch("SELECT since, reason FROM pause WHERE stage = ?")
    select.bind(1, stage.rawValue)
    defer { select.reset() }
    guard try select.step() else { return nil }
    return QueuePause(stage, since: .microseconds(select.integer(0)), reason: select.isNull(1) ? nil : select.text(1))
  }
}

/// Rows of `result` that a call changes.
private struct ResultRows {
  let ids: [Int64]
  /// The states of their payloads, with the numbers of payloads.
  let states: [(state: PayloadState, isDead: Bool, isUnread: Bool, count: Int)]
  /// The numbers as JSON, which is the first argument of each statement.
  let json: String
  /// The set of the numbers in SQL.
  let list = Self.list

  static let list = "(SELECT value FROM json_each(?1))"

  init(_ connection: Database, _ wanted: [Int64], _ condition: String) throws {
    ids = try Int64.fetchAll(
      connection.cachedStatement(sql: "SELECT id FROM result WHERE id IN \(Self.list) AND \(condition)"), arguments: [Self.json(wanted)])
    json = Self.json(ids)
    let query = "SELECT status, dead, NOT read, count(*) FROM result WHERE id IN \(Self.list) GROUP BY 1, 2, 3"
    states = try Row.fetchAll(connection.cachedStatement(sql: query), arguments: [json]).map { row in
      let (isDead, isUnread) = (row[1] as Bool, row[2] as Bool)
      let status = (row[0] as String?).flatMap(DeliveryStatus.init) ?? .delivered
      return (isDead ? .dead : isUnread ? .done : PayloadState(status), isDead, isUnread, row[3])
    }
  }

  static func json(_ ids: [Int64]) -> String { "[\(ids.map { "\($0)" }.joined(separator: ","))]" }
}

extension QueueTally {
  /// Counts rows of `result` no longer.
  fileprivate mutating func forget(_ rows: ResultRows) {
    for row in rows.states {
      self[row.state] -= row.count
      if row.isUnread { unread -= row.count }
    }
  }
}

extension Database {
  fileprivate func run(_ sql: String, _ rows: ResultRows, _ arguments: StatementArguments = []) throws {
    try cachedStatement(sql: sql).execute(arguments: [rows.json] + arguments)
  }

  /// Gives payloads that no worker holds a result that is cancelled.
  ///
  /// - Returns: the number of payloads.
  fileprivate func cancelWork(_ wanted: [Int64], _ why: String, at now: Int64, _ tally: inout QueueTally) throws -> Int {
    let query = "SELECT id, state FROM work WHERE id IN \(ResultRows.list) AND state <> 3"
    let rows = try Row.fetchAll(cachedStatement(sql: query), arguments: [ResultRows.json(wanted)])
    let delete = try cachedStatement(sql: "DELETE FROM work WHERE id = ?")
    let result = try cachedStatement(
      sql: """
        INSERT INTO result (id, outcome, reason, dead, read, finished_at, status, answer, delivered_at)
        VALUES (?1, '\(Outcome.fallback.rawValue)', '\(Reason.queueCancelled.rawValue)', 0, 1, ?2, 'cancelled', ?3, ?2)
        """)
    let output = try cachedStatement(sql: "INSERT INTO output (id, record) VALUES (?, ?)")
    for row in rows {
      let id: Int64 = row[0]
      try delete.execute(arguments: [id])
      try result.execute(arguments: [id, now, why])
      try output.execute(arguments: [id, Data(FinishedPayload.cancelledRecord(id))])
      tally[row[1] as Int64 == 2 ? .waiting : .ready] -= 1
      tally[.cancelled] += 1
    }
    return rows.count
  }
}
