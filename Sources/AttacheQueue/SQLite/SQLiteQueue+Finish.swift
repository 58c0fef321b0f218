internal import Attache
internal import GRDB

extension SQLiteQueue {
  package func renew(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken> {
    guard !leases.isEmpty else { return [] }
    return try write { connection, _ in
      try connection.renew(leases, of: .work, QueueMoment(clock, connection), for: span)
    }
  }

  package func finish(_ results: [FinishedPayload]) throws(QueueError) -> Set<LeaseToken> {
    guard !results.isEmpty else { return [] }
    return try write { connection, tally in
      let now = clock.wall.microseconds
      var refused: Set<LeaseToken> = []
      let finishing = try Finishing(connection)
      for result in results {
        guard try finishing.run(result, at: now) else {
          refused.insert(result.token)
          continue
        }
        tally.leased -= 1
        tally.unread += 1
        tally[result.isDead ? .dead : .done] += 1
      }
      try connection.noteFinished(results.count - refused.count, at: now)
      return refused
    }
  }

  package func giveBack(_ payloads: [ReturnedPayload]) throws(QueueError) -> Set<LeaseToken> {
    guard !payloads.isEmpty else { return [] }
    return try write { connection, tally in
      let returning = try LeaseReturn(.work, connection, QueueMoment(clock, connection))
      var refused: Set<LeaseToken> = []
      for payload in payloads {
        guard try returning.run(payload.token, after: payload.delay, wasTried: payload.wasTried, payload.text) else {
          refused.insert(payload.token)
          continue
        }
        tally.leased -= 1
        if payload.delay > .zero { tally.waiting += 1 } else { tally.ready += 1 }
      }
      return refused
    }
  }
}

/// The statements that store a result.
private struct Finishing {
  private let delivery: BatchStatement
  private let delete: BatchStatement
  private let result: BatchStatement
  private let output: BatchStatement
  private let hold: BatchStatement

  init(_ connection: Database) throws {
    delivery = try connection.batch(
      """
      INSERT INTO delivery (id, state, rank, decided, attempts, deaths, deaths_alone)
      SELECT id, 0, rank, ?3, 0, 0, 0 FROM work WHERE id = ?1 AND fence = ?2
      """)
    delete = try connection.batch("DELETE FROM work WHERE id = ?")
    result = try connection.batch("INSERT INTO result (id, dead, read, finished_at, outcome, reason) VALUES (?, ?, 0, ?, ?, ?)")
    output = try connection.batch("INSERT INTO output (id, record, line) VALUES (?, ?, ?)")
    hold = try connection.batch("INSERT OR IGNORE INTO hold (id, path) VALUES (?, ?)")
  }

  /// - Returns: false when the payload is leased to another worker, or has its result.
  func run(_ payload: FinishedPayload, at now: Int64) throws -> Bool {
    let id = payload.token.id
    guard try delivery.run(id, payload.token.fence, now) > 0 else { return false }
    try delete.run(id)
    try result.bind(4, payload.outcome.rawValue)
    try result.bind(5, payload.reason?.rawValue)
    try result.run(id, payload.isDead ? 1 : 0, now)
    output.bind(1, id)
    _ = try output.withBound(2, payload.record) {
      try output.withBound(3, payload.output) { try output.run() }
    }
    for path in payload.holds {
      try hold.bind(2, path)
      try hold.run(id)
    }
    return true
  }
}

extension Database {
  /// Counts results by the second, and deletes seconds outside the last minute.
  fileprivate func noteFinished(_ count: Int, at now: Int64) throws {
    guard count > 0 else { return }
    let second = now / 1_000_000
    try batch("INSERT INTO finished VALUES (?, ?) ON CONFLICT (second) DO UPDATE SET count = count + excluded.count").run(
      second, Int64(count))
    try batch("DELETE FROM finished WHERE second < ? OR second > ?").run(second - 60, second)
  }
}
