internal import GRDB

/// The last numbers that a queue used, and the number of its payloads in each state. Each change
/// reads and writes them.
struct QueueTally: Equatable {
  /// The number of the last payload that was enqueued.
  var lastID: Int64
  /// The fence of the last claim.
  var lastFence: Int64
  /// The time to which the results that were claimed at a rate reach, in microseconds since 1970.
  var pace: Int64
  /// Results that were neither delivered nor read, those of dead payloads with them.
  var unread: Int
  /// In the order of ``PayloadState/allCases``. Suspects count as ready.
  private var numbers: [Int] = []

  private static let columns = PayloadState.allCases.map(\.column)
  private static let select = "SELECT last_id, last_fence, pace, unread, \(columns.joined(separator: ", ")) FROM queue"
  private static let update =
    "UPDATE queue SET last_id = ?, last_fence = ?, pace = ?, unread = ?, \(columns.map { "\($0) = ?" }.joined(separator: ", "))"

  init(_ connection: Database) throws {
    let select = try connection.batch(Self.select)
    defer { select.reset() }
    guard try select.step() else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the row of the queue is missing") }
    (lastID, lastFence, pace, unread) = (select.integer(0), select.integer(1), select.integer(2), Int(select.integer(3)))
    numbers = Self.columns.indices.map { Int(select.integer(Int32($0) + 4)) }
  }

  func save(_ connection: Database) throws {
    let update = try connection.batch(Self.update)
    for (index, number) in numbers.enumerated() { update.bind(Int32(index) + 5, Int64(number)) }
    try update.run(lastID, lastFence, pace, Int64(unread))
  }

  /// The number of payloads in a state.
  subscript(_ state: PayloadState) -> Int {
    get { numbers[state.index] }
    set { numbers[state.index] = newValue }
  }

  /// Records that a delivery is over. A dead payload stays dead.
  mutating func noteEnd(_ state: PayloadState, isDead: Bool) {
    unread -= 1
    guard !isDead else { return }
    self[.done] -= 1
    self[state] += 1
  }

  var ready: Int {
    get { self[.ready] }
    set { self[.ready] = newValue }
  }
  var waiting: Int {
    get { self[.waiting] }
    set { self[.waiting] = newValue }
  }
  var leased: Int {
    get { self[.leased] }
    set { self[.leased] = newValue }
  }
}

extension PayloadState {
  /// The column of `queue` with the number of payloads in this state.
  fileprivate var column: String { self == .timedOut ? "timed_out" : rawValue }
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
