internal import GRDB
internal import Synchronization

extension SQLiteQueue {
  public func claim(_ request: ClaimRequest) throws(QueueError) -> Claim {
    let worker = try slot.enter()
    return try write { connection, tally in
      let now = try QueueMoment(clock, connection)
      let first = firstFence.withLock { first in
        first = first ?? tally.lastFence + 1
        return first ?? 0
      }
      try connection.keep(worker, since: first, now, for: request.span, tally)
      var next = try connection.takeOver(now, slot, &tally)
      try connection.ripen(now, &tally)
      let leases = try connection.lease(request, to: worker, now, &tally)
      if !leases.isEmpty { next = min(next ?? .max, now.uptime + request.span.microseconds) }
      let hasSuspects = try Bool.fetchOne(connection.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM work WHERE state = 1)")) ?? false
      if tally.ready > 0 { return Claim(leases: leases, hasSuspects: hasSuspects, next: .zero) }
      let wait = try connection.wait(now, leasedUntil: next)
      return Claim(leases: leases, hasSuspects: hasSuspects, next: wait)
    }
  }
}

/// One reading of the clocks, as the database writes it.
struct QueueMoment {
  let wall: Int64
  let uptime: Int64
  /// The machine's start, by its number in the queue.
  let boot: Int64

  init(_ clock: any QueueClock, _ connection: Database) throws {
    boot = try connection.number(ofBoot: clock.boot)
    wall = clock.wall.microseconds
    uptime = clock.uptime.microseconds
  }
}

extension Database {
  /// Makes ready what has become due.
  fileprivate func ripen(_ now: QueueMoment, _ tally: inout QueueTally) throws {
    guard tally.waiting > 0 else { return }
    let ready =
      "UPDATE work SET state = iif(deaths >= \(Lease.deathsOfSuspect), 1, 0), boot = NULL, until = NULL, moment = NULL WHERE state = 2"
    let due = [
      try batch("\(ready) AND moment <= ?").run(now.wall),
      try batch("\(ready) AND boot = ? AND until <= ?").run(now.boot, now.uptime),
      try batch("\(ready) AND boot < ?").run(now.boot),
      try batch("\(ready) AND boot > ?").run(now.boot),
    ].reduce(0, +)
    tally.waiting -= due
    tally.ready += due
  }

  /// Leases what is first.
  fileprivate func lease(_ request: ClaimRequest, to worker: Int64, _ now: QueueMoment, _ tally: inout QueueTally) throws -> [Lease] {
    let leases = try first(request, fence: tally.lastFence + 1)
    guard !leases.isEmpty else { return [] }
    let update = try batch(
      "UPDATE work SET state = 3, boot = ?2, until = ?3, worker = ?4, fence = ?5, alone = ?6 WHERE id = ?1")
    update.bind(2, now.boot)
    update.bind(3, now.uptime + request.span.microseconds)
    update.bind(4, worker)
    update.bind(5, tally.lastFence + 1)
    update.bind(6, request.isAlone ? 1 : 0)
    for lease in leases {
      update.bind(1, lease.token.id)
      try update.run()
    }
    tally.lastFence += 1
    tally.ready -= leases.count
    tally.leased += leases.count
    return leases
  }

  /// What is claimable, in its order, as far as there is room for it.
  private func first(_ request: ClaimRequest, fence: Int64) throws -> [Lease] {
    let select = try batch(
      """
      SELECT work.id, attempts, deaths, deaths_alone, expires_at, length(line), iif(length(line) <= \(Lease.maximumLine), line, NULL)
      FROM work INDEXED BY \(request.isAlone ? "work_suspect" : "work_ready") CROSS JOIN payload ON payload.id = work.id
      WHERE state = \(request.isAlone ? 1 : 0) ORDER BY rank, work.id LIMIT ?
      """)
    select.bind(1, Int64(request.isAlone ? min(1, request.limit) : request.limit))
    defer { select.reset() }
    var leases: [Lease] = []
    var room = request.maximumBytes
    while try select.step() {
      let isHandedOut = select.integer(5) <= Int64(Lease.maximumLine)
      room -= isHandedOut ? Int(select.integer(5)) : 0
      guard room >= 0 || leases.isEmpty else { break }
      leases.append(
        Lease(
          token: LeaseToken(id: select.integer(0), fence: fence), line: isHandedOut ? select.bytes(6) : nil,
          attempt: Int(select.integer(1)) + 1,
          expiresAt: select.integerIfAny(4).map(Duration.init(microseconds:)), deaths: Int(select.integer(2)),
          deathsAlone: Int(select.integer(3))))
    }
    return leases
  }

  /// How long until something may be claimable, when nothing is now; nil when nothing is undecided.
  fileprivate func wait(_ now: QueueMoment, leasedUntil: Int64?) throws -> Duration? {
    let delayed = try Int64.fetchOne(
      cachedStatement(sql: "SELECT min(until) FROM work WHERE state = 2 AND boot = ?"), arguments: [now.boot])
    let moment = try Int64.fetchOne(cachedStatement(sql: "SELECT min(moment) FROM work WHERE state = 2 AND moment IS NOT NULL"))
    let spans = [leasedUntil.map { $0 - now.uptime }, delayed.map { $0 - now.uptime }, moment.map { $0 - now.wall }]
    return spans.compactMap(\.self).min().map { .microseconds(max(0, $0)) }
  }
}
