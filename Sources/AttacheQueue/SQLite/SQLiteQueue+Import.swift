internal import GRDB

/// A payload of another queue, with its state. Times and spans are in microseconds.
struct ImportedPayload {
  enum State {
    case ready
    /// Not due before this time of the wall clock.
    case waiting(moment: Int64)
    /// Not due before this uptime of the machine.
    case delayed(until: Int64)
    case decided(ImportedResult)
  }

  var id: Int64
  var priority: Int
  var notBefore: Int64?
  var expiresAt: Int64?
  var enqueuedAt: Int64
  var key: [UInt8]?
  var line: [UInt8] = []
  /// The name part of its result's files; empty when the payload was not dropped.
  var name: String
  var attempts: Int64
  var deaths: Int64
  var deathsAlone: Int64
  var state = State.ready

  /// The approximate size in bytes.
  var size: Int {
    switch state {
    case .ready, .waiting, .delayed: line.count
    case .decided(let result): line.count + result.record.count + (result.output?.count ?? 0)
    }
  }
}

struct ImportedResult {
  var result: EarlierEntry.Result
  var record: [UInt8]
  /// The output line; nil means the payload's own line.
  var output: [UInt8]?
  /// The path of the result's file, which may have been moved away or deleted.
  var path: String
  /// Whether a user moved the file away or deleted it.
  var isTaken: Bool
  var holds: [String]
}

extension SQLiteQueue {
  /// Adds payloads of another queue.
  func add(_ payloads: [ImportedPayload]) throws(QueueError) {
    guard !payloads.isEmpty else { return }
    try write { connection, tally in
      let moment = try QueueMoment(clock, connection)
      for payload in payloads { try connection.add(payload, moment, &tally) }
    }
  }

  /// Sets the last numbers, and records holds that no result uses any more.
  func endImport(lastID: Int64, lastFence: Int64, freedHolds: [String]) throws(QueueError) {
    try write { connection, tally in
      tally.lastID = max(tally.lastID, lastID)
      tally.lastFence = max(tally.lastFence, lastFence)
      let hold = try connection.batch("INSERT OR IGNORE INTO hold (id, path) VALUES (0, ?)")
      for path in freedHolds {
        try hold.bind(1, path)
        try hold.run()
      }
    }
  }
}

extension Database {
  fileprivate func add(_ payload: ImportedPayload, _ now: QueueMoment, _ tally: inout QueueTally) throws {
    // Only an incomplete call can leave a second payload with the same key. It is kept without a
    // key.
    let insert = try batch(
      """
      INSERT INTO payload VALUES (?1, ?2, ?3, ?4, ?5, iif(EXISTS (SELECT 1 FROM payload WHERE key = ?6), NULL, ?6), ?7)
      """)
    insert.bind(1, payload.id)
    insert.bind(2, Int64(payload.priority))
    insert.bind(3, payload.notBefore)
    insert.bind(4, payload.expiresAt)
    insert.bind(5, payload.enqueuedAt)
    _ = try insert.withBound(6, payload.key) { try insert.withBound(7, payload.line) { try insert.run() } }
    if !payload.name.isEmpty {
      try execute(sql: "INSERT INTO dropped VALUES (?, ?)", arguments: [payload.id, payload.name])
    }
    switch payload.state {
    case .ready: try addWork(payload, .ready, now, &tally)
    case .waiting(let moment): try addWork(payload, moment > now.wall ? .waiting(moment) : .ready, now, &tally)
    case .delayed(let until): try addWork(payload, until > now.uptime ? .delayed(until) : .ready, now, &tally)
    case .decided(let result): try add(result, of: payload.id, now, &tally)
    }
  }

  private enum Due {
    case ready
    case waiting(Int64)
    case delayed(Int64)
  }

  private func addWork(_ payload: ImportedPayload, _ due: Due, _ now: QueueMoment, _ tally: inout QueueTally) throws {
    let work = try batch(
      "INSERT INTO work (id, state, rank, attempts, deaths, deaths_alone, boot, until, moment) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
    let rank = payload.priority == .min ? .max : Int64(-payload.priority)
    let isSuspect = payload.deaths >= Int64(Lease.deathsOfSuspect)
    let (state, boot, until, moment): (Int64, Int64?, Int64?, Int64?) =
      switch due {
      case .ready: (isSuspect ? 1 : 0, nil, nil, nil)
      case .waiting(let moment): (2, nil, nil, moment)
      case .delayed(let until): (2, now.boot, until, payload.expiresAt)
      }
    try work.run(payload.id, state, rank, payload.attempts, payload.deaths, payload.deathsAlone, boot, until, moment)
    if state == 2 { tally.waiting += 1 } else { tally.ready += 1 }
  }

  private func add(_ imported: ImportedResult, of id: Int64, _ now: QueueMoment, _ tally: inout QueueTally) throws {
    let result = imported.result
    let isRead = result.isRead || imported.isTaken
    try execute(
      sql: "INSERT INTO result (id, dead, read, finished_at, outcome, reason) VALUES (?, ?, ?, ?, ?, ?)",
      arguments: [id, result.isDead, isRead, result.finishedAt, result.outcome, result.reason])
    let output = try batch("INSERT INTO output (id, record, line) VALUES (?, ?, ?)")
    output.bind(1, id)
    _ = try output.withBound(2, imported.record) { try output.withBound(3, imported.output) { try output.run() } }
    // The trigger has created the row.
    let state: OutboxState = imported.isTaken ? .taken : isRead ? .read : .unread
    try execute(sql: "UPDATE outbox SET state = ?, path = ? WHERE id = ?", arguments: [state.rawValue, imported.path, id])
    // The holds of a result whose file was moved away or deleted are released.
    for path in imported.holds {
      try execute(sql: "INSERT OR IGNORE INTO hold (id, path) VALUES (?, ?)", arguments: [imported.isTaken ? 0 : id, path])
    }
    if result.isDead { tally.dead += 1 } else { tally.done += 1 }
    if !isRead { tally.unread += 1 }
    let age = now.wall - result.finishedAt
    guard age >= 0, age < 60_000_000 else { return }
    try execute(
      sql: "INSERT INTO finished VALUES (?, 1) ON CONFLICT (second) DO UPDATE SET count = count + 1",
      arguments: [result.finishedAt / 1_000_000])
  }
}
