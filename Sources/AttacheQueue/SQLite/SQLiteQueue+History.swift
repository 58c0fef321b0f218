internal import Attache
internal import FoundationEssentials
internal import GRDB

/// Adds failed attempts to the histories of payloads.
struct EventStatement {
  private let statement: BatchStatement

  fileprivate init(_ statement: BatchStatement) {
    self.statement = statement
  }

  /// Records the last attempt for a payload. The attempt must be counted already.
  func note(_ text: String, of id: Int64) throws {
    statement.bind(1, id)
    try statement.bind(3, PayloadEvent.bounded(text))
    try statement.run()
  }
}

extension Database {
  /// Returns the statement that records attempts of a stage at this time.
  func noting(_ stage: PayloadEvent.Stage, _ now: QueueMoment) throws -> EventStatement {
    let statement = try batch(
      """
      INSERT OR REPLACE INTO event (id, stage, slot, attempt, moment, text)
      SELECT id, \(stage.rawValue), attempts % \(PayloadEvent.limit), attempts, ?2, ?3
      FROM \((stage == .work ? LeaseTable.work : .delivery).rawValue) WHERE id = ?1
      """)
    statement.bind(2, now.wall)
    return EventStatement(statement)
  }
}

extension PayloadEvent {
  /// Returns the text, limited to the stored length.
  package static func bounded(_ text: String) -> String {
    text.utf8.count <= textLimit ? text : String(decoding: text.utf8.prefix(textLimit), as: UTF8.self)
  }
}

extension SQLiteQueue {
  package func histories(of ids: [Int64]) throws(QueueError) -> [PayloadHistory] {
    let (wall, uptime, boot) = (clock.wall, clock.uptime, clock.boot)
    return try read { connection in
      let number = try Int64.fetchOne(connection, sql: "SELECT number FROM boot WHERE name = ?", arguments: [boot])
      return try ids.compactMap { id in
        var history = try connection.history(of: id, wall: wall, booted: wall - uptime, boot: number)
        history?.endWait(at: wall)
        return history
      }
    }
  }

  package func content(of id: Int64) throws(QueueError) -> PayloadContent? {
    try read { connection in
      let select = try connection.batch(
        "SELECT payload.line, output.record, output.line FROM payload LEFT JOIN output ON output.id = payload.id WHERE payload.id = ?")
      select.bind(1, id)
      defer { select.reset() }
      guard try select.step() else { return nil }
      return PayloadContent(
        line: select.bytes(0), record: select.isNull(1) ? nil : select.bytes(1), output: select.isNull(2) ? nil : select.bytes(2))
    }
  }
}

extension Database {
  /// - Parameters:
  ///   - wall: the wall clock time, at which spans of earlier starts of the machine are over.
  ///   - booted: the wall clock time of the machine's start.
  ///   - boot: the number of this start.
  fileprivate func history(of id: Int64, wall: Duration, booted: Duration, boot: Int64?) throws -> PayloadHistory? {
    let row = try Row.fetchOne(
      cachedStatement(
        sql: """
          SELECT payload.priority, search_key, payload.enqueued_at, payload.not_before, payload.expires_at, outcome, reason, dead, finished_at, result.status,
            answer, delivered_at, read, work.state AS work_state, delivery.state AS delivery_state, coalesce(work.worker, delivery.worker) AS worker,
            coalesce(work.moment, delivery.moment) AS moment, coalesce(work.until, delivery.until) AS until, coalesce(work.boot, delivery.boot) AS boot
          FROM payload LEFT JOIN work ON work.id = payload.id LEFT JOIN result ON result.id = payload.id
            LEFT JOIN delivery ON delivery.id = payload.id
          WHERE payload.id = ?
          """), arguments: [id])
    guard let row else { return nil }
    func moment(_ name: String) -> Duration? { (row[name] as Int64?).map(Duration.init(microseconds:)) }
    var history = PayloadHistory(id: id, enqueuedAt: moment("enqueued_at") ?? .zero)
    history.priority = row["priority"]
    (history.notBefore, history.expiresAt) = (moment("not_before"), moment("expires_at"))
    history.work = (row["work_state"] as Int64?).map(PayloadHistory.Standing.init)
    history.tries = try events(of: id)
    history.searchKey = (row["search_key"] as Data?).map { Array($0) }
    history.holder = (row["worker"] as Int64?).map(String.init)
    let until = moment("until").map { row["boot"] == boot ? booted + $0 : wall }
    history.dueAt = [moment("moment"), until].compactMap(\.self).min()
    guard let outcome = row["outcome"] as String?, let finishedAt = moment("finished_at") else { return history }
    var result = PayloadHistory.Result(outcome: outcome, reason: row["reason"], isDead: row["dead"], finishedAt: finishedAt)
    result.delivery = (row["delivery_state"] as Int64?).map(PayloadHistory.Standing.init)
    result.status = (row["status"] as String?) ?? (row["read"] == true ? "read" : nil)
    (result.answer, result.deliveredAt) = (row["answer"], moment("delivered_at"))
    history.result = result
    return history
  }

  private func events(of id: Int64) throws -> [PayloadEvent] {
    try Row.fetchAll(self, sql: "SELECT stage, attempt, moment, text FROM event WHERE id = ? ORDER BY stage, attempt", arguments: [id])
      .compactMap {
        guard let stage = PayloadEvent.Stage(rawValue: $0["stage"]) else { return nil }
        return PayloadEvent(stage: stage, attempt: $0["attempt"], moment: Duration(microseconds: $0["moment"]), text: $0["text"])
      }
  }
}

extension PayloadHistory.Standing {
  /// Converts the state of a row.
  fileprivate init(_ state: Int64) {
    self =
      switch state {
      case 2: .waiting
      case 3: .leased
      default: .ready
      }
  }
}
