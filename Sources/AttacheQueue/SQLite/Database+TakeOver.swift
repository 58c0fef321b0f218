internal import GRDB

extension Database {
  /// Has this worker's own leases last on that ran out while it was held up: its claim shows that it lives.
  ///
  /// - Parameter fence: of the first lease that this handle took; an earlier one is of another worker with its number.
  func keep(_ worker: Int64, since fence: Int64, _ now: QueueMoment, for span: Duration, _ tally: QueueTally) throws {
    guard tally.leased > 0 else { return }
    let update = try batch(
      "UPDATE work SET until = ?5 WHERE state = 3 AND boot = ?1 AND worker = ?2 AND until <= ?3 AND fence >= ?4")
    try update.run(now.boot, worker, now.uptime, fence, now.uptime + span.microseconds)
  }

  /// Takes leases from workers that are gone or too late. A death is counted only for one that is known to have died: a worker that lives and was
  /// held up, by a slow disk for one, is no sign of a payload that ends its workers.
  ///
  /// - Returns: when the first of the leases that stay runs out; nil when none stays.
  func takeOver(_ now: QueueMoment, _ slot: WorkerSlot, _ tally: inout QueueTally) throws -> Int64? {
    guard tally.leased > 0 else { return nil }
    let select = try batch(
      """
      SELECT boot, worker, until FROM work INDEXED BY work_leased WHERE state = 3 AND (boot, worker) > (?, ?)
      ORDER BY boot, worker, until LIMIT 1
      """)
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
      let hasDied = holder == .died || boot != now.boot && holder == .unknown
      let counts = try takeOver(boot, worker, until: isGone ? .max : now.uptime, diedOf: hasDied ? 1 : 0)
      tally.leased -= counts
      tally.ready += counts
      guard !isGone else { continue }
      let rest = try Int64.fetchOne(
        cachedStatement(sql: "SELECT min(until) FROM work INDEXED BY work_leased WHERE state = 3 AND boot = ? AND worker = ?"),
        arguments: [boot, worker])
      if let rest { stays = min(stays ?? .max, rest) }
    }
    select.reset()
    return stays
  }

  private func takeOver(_ boot: Int64, _ worker: Int64, until: Int64, diedOf deaths: Int64) throws -> Int {
    let update = try batch(
      """
      UPDATE work SET state = iif(deaths + ?4 >= \(Lease.deathsOfSuspect), 1, 0), deaths = deaths + ?4, deaths_alone = deaths_alone + ?4 * alone,
        boot = NULL, until = NULL, worker = NULL, fence = NULL, alone = NULL
      WHERE state = 3 AND boot = ?1 AND worker = ?2 AND until <= ?3
      """)
    return try update.run(boot, worker, until, deaths)
  }

  /// Makes ready what a worker still holds.
  func giveBackAll(of worker: Int64, _ tally: inout QueueTally) throws {
    let update = try batch(
      """
      UPDATE work SET state = iif(deaths >= \(Lease.deathsOfSuspect), 1, 0), boot = NULL, until = NULL, worker = NULL, fence = NULL, alone = NULL
      WHERE state = 3 AND worker = ?
      """)
    let count = try update.run(worker)
    tally.leased -= count
    tally.ready += count
  }
}
