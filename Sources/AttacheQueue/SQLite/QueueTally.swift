internal import GRDB

/// The numbers that a queue gives out, and how many of its payloads are in which state; read and
/// written with each change.
struct QueueTally: Equatable {
  /// The payload that was enqueued last.
  var lastID: Int64
  /// Of the claim that was made last.
  var lastFence: Int64
  /// Suspects too.
  var ready: Int
  var waiting: Int
  var leased: Int
  var done: Int
  var dead: Int
  var unread: Int

  init(_ connection: Database) throws {
    let select = try connection.batch("SELECT last_id, last_fence, ready, waiting, leased, done, dead, unread FROM queue")
    defer { select.reset() }
    guard try select.step() else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the row of the queue is missing") }
    lastID = select.integer(0)
    lastFence = select.integer(1)
    ready = Int(select.integer(2))
    waiting = Int(select.integer(3))
    leased = Int(select.integer(4))
    done = Int(select.integer(5))
    dead = Int(select.integer(6))
    unread = Int(select.integer(7))
  }

  func save(_ connection: Database) throws {
    let update = try connection.batch(
      "UPDATE queue SET last_id = ?, last_fence = ?, ready = ?, waiting = ?, leased = ?, done = ?, dead = ?, unread = ?")
    try update.run(lastID, lastFence, Int64(ready), Int64(waiting), Int64(leased), Int64(done), Int64(dead), Int64(unread))
  }
}

extension Database {
  /// Makes changes in one transaction that nobody else's is between.
  func change<Result>(_ body: (Database, inout QueueTally) throws -> Result) throws -> Result {
    var result: Result?
    try inTransaction(.immediate) {
      let before = try QueueTally(self)
      var tally = before
      result = try body(self, &tally)
      if tally != before { try tally.save(self) }
      return .commit
    }
    guard let result else { throw DatabaseError(resultCode: .SQLITE_ABORT) }
    return result
  }

  /// The number of a start of the machine; a start that is new gets one.
  func number(ofBoot name: String) throws -> Int64 {
    if let number = try Int64.fetchOne(cachedStatement(sql: "SELECT number FROM boot WHERE name = ?"), arguments: [name]) { return number }
    try execute(sql: "INSERT INTO boot (name) VALUES (?)", arguments: [name])
    return lastInsertedRowID
  }
}
