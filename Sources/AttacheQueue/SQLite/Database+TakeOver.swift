internal import GRDB

extension Database {
  /// Extends this holder's leases that ran out while it was delayed. Its claim shows that it lives.
  ///
  /// - Parameter fence: the fence of the first lease that this handle took. A lease with a smaller
  ///   fence belongs to another holder with the same number.
  func keep(_ table: LeaseTable, _ worker: Int64, since fence: Int64, _ now: QueueMoment, for span: Duration) throws {
    let update = try batch(
      "UPDATE \(table.rawValue) SET until = ?5 WHERE state = 3 AND boot = ?1 AND worker = ?2 AND until <= ?3 AND fence >= ?4")
    try update.run(now.boot, worker, now.uptime, fence, now.uptime + span.microseconds)
  }

  /// Ends the leases of holders that have gone, and leases that ran out. A death is counted only
  /// for a worker that is known to have died: a worker that was delayed, for example by a slow
  /// disk, is no sign of a payload that crashes workers. A deliverer's death is never counted,
  /// because a deliverer does not parse what it delivers.
  ///
  /// - Returns: the number of leases that ended, and when the first of the remaining leases runs
  ///   out; nil when none remains.
  func takeOver(_ table: LeaseTable, _ now: QueueMoment, _ slot: WorkerSlot) throws -> (count: Int, next: Int64?) {
    let leased = "\(table.rawValue) INDEXED BY \(table.rawValue)_leased"
    let select = try batch(
      """
      SELECT boot, worker, until FROM \(leased) WHERE state = 3 AND (boot, worker) > (?, ?) ORDER BY boot, worker, until LIMIT 1
      """)
    var count = 0
    var stays: Int64?
    var (boot, worker) = (Int64.min, Int64.min)
    while true {
      select.bind(1, boot)
      select.bind(2, worker)
      guard try select.step() else { break }
      let until: Int64
      (boot, worker, until) = (select.integer(0), select.integer(1), select.integer(2))
      select.reset()
      let holder = slot.holder(worker)
      let isGone = boot != now.boot || holder == .died || holder == .closed
      guard isGone || until <= now.uptime else {
        stays = min(stays ?? .max, until)
        continue
      }
      let hasDied = table == .work && (holder == .died || boot != now.boot && holder == .unknown)
      count += try takeOver(table, boot, worker, until: isGone ? .max : now.uptime, diedOf: hasDied ? 1 : 0)
      guard !isGone else { continue }
      let rest = try Int64.fetchOne(
        cachedStatement(sql: "SELECT min(until) FROM \(leased) WHERE state = 3 AND boot = ? AND worker = ?"), arguments: [boot, worker])
      if let rest { stays = min(stays ?? .max, rest) }
    }
    select.reset()
    return (count, stays)
  }

  private func takeOver(_ table: LeaseTable, _ boot: Int64, _ worker: Int64, until: Int64, diedOf deaths: Int64) throws -> Int {
    let update = try batch(
      """
      UPDATE \(table.rawValue) SET state = iif(deaths + ?4 >= \(Lease.deathsOfSuspect), 1, 0), deaths = deaths + ?4,
        deaths_alone = deaths_alone + ?4 * alone, boot = NULL, until = NULL, worker = NULL, fence = NULL, alone = NULL
      WHERE state = 3 AND boot = ?1 AND worker = ?2 AND until <= ?3
      """)
    return try update.run(boot, worker, until, deaths)
  }

  /// Makes the rows that a holder still holds ready.
  ///
  /// - Returns: the number of rows.
  func giveBackAll(_ table: LeaseTable, of worker: Int64) throws -> Int {
    try batch("UPDATE \(table.rawValue) SET \(LeaseTable.freed) WHERE state = 3 AND worker = ?").run(worker)
  }
}
