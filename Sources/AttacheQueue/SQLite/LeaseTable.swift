internal import GRDB

/// A table whose rows are leased: payloads to process, or results to deliver. Both have the same
/// columns for leases.
enum LeaseTable: String {
  case work
  case delivery

  /// The new values of a row that no holder has any more. The row becomes a suspect after too many
  /// deaths.
  static let freed = """
    state = iif(deaths >= \(Lease.deathsOfSuspect), 1, 0), boot = NULL, until = NULL, worker = NULL, fence = NULL, alone = NULL
    """
}

extension Database {
  /// Whether the table has rows in a state.
  func has(_ table: LeaseTable, state: Int) throws -> Bool {
    try Bool.fetchOne(cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM \(table.rawValue) WHERE state = \(state))")) ?? false
  }

  /// Makes rows ready whose delay or start time has passed.
  ///
  /// - Returns: the number of rows.
  func endDelays(_ table: LeaseTable, _ now: QueueMoment) throws -> Int {
    let ready =
      """
      UPDATE \(table.rawValue) SET state = iif(deaths >= \(Lease.deathsOfSuspect), 1, 0), boot = NULL, until = NULL, moment = NULL WHERE state = 2
      """
    return [
      try batch("\(ready) AND moment <= ?").run(now.wall),
      try batch("\(ready) AND boot = ? AND until <= ?").run(now.boot, now.uptime),
      try batch("\(ready) AND boot < ?").run(now.boot),
      try batch("\(ready) AND boot > ?").run(now.boot),
    ].reduce(0, +)
  }

  /// Leases rows to a holder.
  func lease(
    _ ids: some Sequence<Int64>, of table: LeaseTable, to worker: Int64, fence: Int64, alone: Bool, _ now: QueueMoment, for span: Duration
  )
    throws
  {
    let update = try batch(
      "UPDATE \(table.rawValue) SET state = 3, boot = ?2, until = ?3, worker = ?4, fence = ?5, alone = ?6 WHERE id = ?1")
    update.bind(2, now.boot)
    update.bind(3, now.uptime + span.microseconds)
    update.bind(4, worker)
    update.bind(5, fence)
    update.bind(6, alone ? 1 : 0)
    for id in ids {
      update.bind(1, id)
      try update.run()
    }
  }

  /// Extends leases to a span from now.
  ///
  /// - Returns: the leases that the holder no longer has.
  func renew(_ leases: [LeaseToken], of table: LeaseTable, _ now: QueueMoment, for span: Duration) throws -> Set<LeaseToken> {
    let update = try batch("UPDATE \(table.rawValue) SET boot = ?3, until = ?4 WHERE id = ?1 AND fence = ?2")
    return Set(try leases.filter { try update.run($0.id, $0.fence, now.boot, now.uptime + span.microseconds) == 0 })
  }

  /// Returns how long until a row may become claimable, when none is now; nil when no row waits or
  /// is leased.
  func wait(_ table: LeaseTable, _ now: QueueMoment, leasedUntil: Int64?) throws -> Duration? {
    let name = table.rawValue
    let delayed = try Int64.fetchOne(
      cachedStatement(sql: "SELECT min(until) FROM \(name) WHERE state = 2 AND boot = ?"), arguments: [now.boot])
    let moment = try Int64.fetchOne(cachedStatement(sql: "SELECT min(moment) FROM \(name) WHERE state = 2 AND moment IS NOT NULL"))
    let spans = [leasedUntil.map { $0 - now.uptime }, delayed.map { $0 - now.uptime }, moment.map { $0 - now.wall }]
    return spans.compactMap(\.self).min().map { .microseconds(max(0, $0)) }
  }
}
