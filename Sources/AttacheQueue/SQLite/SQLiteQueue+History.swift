internal import Attache
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
  package func history(of name: PayloadName) throws(QueueError) -> PayloadHistory? {
    try read { connection in
      let id: Int64?
      switch name {
      case .number(let number): id = number
      case .key(let key):
        let select = try connection.batch("SELECT id FROM payload WHERE key = ?")
        id = try select.withBound(1, key) {
          defer { select.reset() }
          return try select.step() ? select.integer(0) : nil
        }
      }
      return try id.flatMap { try connection.history(of: $0) }
    }
  }

  package func poisoned(after id: Int64, limit: Int) throws(QueueError) -> [PayloadHistory] {
    try read { connection in
      let ids = try Int64.fetchAll(
        connection, sql: "SELECT id FROM result WHERE id > ? AND (dead OR delivery = ?) ORDER BY id LIMIT ?",
        arguments: [id, DeliveryStatus.poison.rawValue, limit])
      return try ids.compactMap { try connection.history(of: $0) }
    }
  }
}

extension Database {
  fileprivate func history(of id: Int64) throws -> PayloadHistory? {
    let row = try Row.fetchOne(
      self,
      sql: """
        SELECT payload.priority, payload.enqueued_at, payload.not_before, payload.expires_at,
          work.state AS work_state, work.attempts AS work_attempts, outcome, reason, dead, finished_at, result.delivery, answer, delivered_at, read,
          delivery.state AS delivery_state, delivery.attempts AS delivery_attempts
        FROM payload LEFT JOIN work ON work.id = payload.id LEFT JOIN result ON result.id = payload.id
          LEFT JOIN delivery ON delivery.id = payload.id
        WHERE payload.id = ?
        """, arguments: [id])
    guard let row else { return nil }
    func moment(_ name: String) -> Duration? { (row[name] as Int64?).map(Duration.init(microseconds:)) }
    var history = PayloadHistory(id: id, enqueuedAt: moment("enqueued_at") ?? .zero)
    history.priority = row["priority"]
    (history.notBefore, history.expiresAt) = (moment("not_before"), moment("expires_at"))
    history.work = (row["work_state"] as Int64?).map(PayloadHistory.Standing.init)
    history.tries = try events(of: id)
    guard let outcome = row["outcome"] as String?, let finishedAt = moment("finished_at") else { return history }
    var result = PayloadHistory.Result(outcome: outcome, reason: row["reason"], isDead: row["dead"], finishedAt: finishedAt)
    result.delivery = (row["delivery_state"] as Int64?).map(PayloadHistory.Standing.init)
    result.status = (row["delivery"] as String?) ?? (row["read"] == true ? "read" : nil)
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
