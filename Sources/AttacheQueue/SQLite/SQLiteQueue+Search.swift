internal import FoundationEssentials
internal import GRDB

extension SQLiteQueue {
  package func find(_ filter: PayloadFilter, after id: Int64, limit: Int) throws(QueueError) -> PayloadMatches {
    try read { connection in
      try PayloadSearch.find(filter, after: id, limit: limit, .sqlite, now: { try now(connection) }) { query in
        let arguments = StatementArguments(
          query.values.map { value -> (any DatabaseValueConvertible)? in
            switch value {
            case .text(let text): text
            case .bytes(let bytes): Data(bytes)
            }
          })
        return try Row.fetchAll(connection, sql: query.sql, arguments: arguments).map { ($0[0], $0[1]) }
      }
    }
  }
}

extension SQLiteQueue {
  /// Returns the time as the database stores it.
  func now(_ connection: Database) throws -> PayloadSearch.Now {
    let (wall, uptime) = (clock.wall.microseconds, clock.uptime.microseconds)
    let boot = try Int64.fetchOne(connection, sql: "SELECT number FROM boot WHERE name = ?", arguments: [clock.boot]) ?? 0
    return PayloadSearch.Now(wall: wall) { prefix in
      [("\(prefix)moment <= \(wall)", "work_moment")]
        + ["boot = \(boot) AND \(prefix)until <= \(uptime)", "boot < \(boot)", "boot > \(boot)"].map { (prefix + $0, "work_delayed") }
    }
  }
}

extension PayloadSearch.Dialect {
  fileprivate static let sqlite = PayloadSearch.Dialect(
    key: { $0 }, undelivered: "NOT r.read", queryUndelivered: "SELECT id FROM delivery", position: "instr",
    searchKeys: "search", table: { name, index in "\(name) INDEXED BY \(index)" }, parameter: { number, _ in "?\(number)" })
}
