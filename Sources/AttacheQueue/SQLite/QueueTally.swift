internal import GRDB

/// The last numbers that a queue used, and the number of its payloads in each state. Each change
/// reads and writes them.
struct QueueTally: Equatable {
  /// The number of the last payload that was enqueued.
  var lastID: Int64
  /// The fence of the last claim.
  var lastFence: Int64
  /// Ready payloads, including suspects.
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
  /// Makes changes in one transaction, isolated from other writers.
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

  /// Returns the number of a start of the machine. A new start gets a number.
  func number(ofBoot name: String) throws -> Int64 {
    if let number = try Int64.fetchOne(cachedStatement(sql: "SELECT number FROM boot WHERE name = ?"), arguments: [name]) { return number }
    try execute(sql: "INSERT INTO boot (name) VALUES (?)", arguments: [name])
    return lastInsertedRowID
  }
}
