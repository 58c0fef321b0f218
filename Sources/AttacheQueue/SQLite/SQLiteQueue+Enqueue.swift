internal import GRDB

extension SQLiteQueue {
  package func enqueue(_ payloads: [NewPayload]) throws(QueueError) -> Int {
    guard !payloads.isEmpty else { return 0 }
    return try write { connection, tally in
      try connection.add(payloads, at: clock.wall.microseconds, &tally)
    }
  }

  package func enqueue(_ payloads: [NewPayload], batch: String) throws(QueueError) -> Int {
    let added = try write { connection, tally in
      try connection.cachedStatement(sql: "INSERT OR IGNORE INTO batch VALUES (?)").execute(arguments: [batch])
      guard connection.changesCount > 0 else { return 0 }
      return try connection.add(payloads, at: clock.wall.microseconds, &tally)
    }
    // The caller removes the files now.
    try log.checkPresence()
    return added
  }

  package func forgetBatch(_ batch: String) throws(QueueError) {
    try write { connection, _ in
      try connection.cachedStatement(sql: "DELETE FROM batch WHERE name = ?").execute(arguments: [batch])
    }
  }

  package func knows(_ keys: [[UInt8]]) throws(QueueError) -> Int {
    try read { connection in
      let select = try connection.batch("SELECT 1 FROM payload WHERE key = ?")
      return try keys.reduce(0) { count, key in
        try select.withBound(1, key) {
          defer { select.reset() }
          return try select.step() ? count + 1 : count
        }
      }
    }
  }
}

extension Database {
  /// Adds payloads behind all others.
  ///
  /// - Returns: the number of payloads whose key did not exist.
  func add(_ payloads: some Sequence<NewPayload>, at now: Int64, _ tally: inout QueueTally) throws -> Int {
    let insert = try batch("INSERT OR IGNORE INTO payload VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
    let search = try batch("INSERT INTO search (id, search_key) VALUES (?, ?)")
    let work = try batch("INSERT INTO work (id, state, rank, attempts, deaths, deaths_alone, moment) VALUES (?, ?, ?, 0, 0, 0, ?)")
    return try payloads.count { payload in
      let id = tally.lastID + 1
      guard try insert.run(payload, as: id, at: now) else { return false }
      tally.lastID = id
      if let key = payload.searchKey {
        search.bind(1, id)
        _ = try search.withBound(2, key) { try search.run() }
      }
      if let moment = payload.dueMoment, moment > now {
        try work.run(id, 2, payload.rank, moment)
        tally.waiting += 1
      } else {
        try work.run(id, 0, payload.rank, nil)
        tally.ready += 1
      }
      return true
    }
  }
}

extension NewPayload {
  /// The sort key of `work`: the smallest is claimed first.
  var rank: Int64 { priority == .min ? .max : Int64(-priority) }

  /// The earliest time at which the payload may be claimed. A payload that expires before its start
  /// time waits only until it expires. Nil means at once.
  var dueMoment: Int64? {
    guard let notBefore else { return nil }
    return min(notBefore, expiresAt ?? notBefore).microseconds
  }
}

extension BatchStatement {
  /// - Returns: false when the payload's key exists.
  func run(_ payload: NewPayload, as id: Int64, at now: Int64) throws -> Bool {
    bind(1, id)
    bind(2, Int64(payload.priority))
    bind(3, payload.notBefore?.microseconds)
    bind(4, payload.expiresAt?.microseconds)
    bind(5, now)
    if let name = payload.name { try bind(9, name) } else { bind(9, nil as Int64?) }
    return try withBound(6, payload.key) {
      try withBound(7, payload.searchKey) {
        try withBound(8, payload.line) { try run() > 0 }
      }
    }
  }
}
