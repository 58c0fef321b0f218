internal import GRDB
internal import Synchronization

extension SQLiteQueue {
  package func claim(_ request: ClaimRequest) throws(QueueError) -> Claim {
    let worker = try slot.enter()
    return try write { connection, tally in
      let now = try QueueMoment(clock, connection)
      let ownFence = first(tally)
      if tally.leased > 0 { try connection.keep(.work, worker, since: ownFence, now, for: request.span) }
      var next = try freeWork(connection, &tally, now)
      if let pause = try connection.pause(of: .work) {
        let isEmpty = tally.ready + tally.waiting + tally.leased == 0
        var claim = Claim(leases: [], hasSuspects: false, next: isEmpty ? nil : QueuePause.poll)
        claim.pause = pause
        return claim
      }
      let leases = try connection.lease(request, to: worker, now, &tally)
      if !leases.isEmpty { next = min(next ?? .max, now.uptime + request.span.microseconds) }
      let hasSuspects = try connection.has(.work, state: 1)
      if tally.ready > 0 { return Claim(leases: leases, hasSuspects: hasSuspects, next: .zero) }
      let wait = try connection.wait(.work, now, leasedUntil: next)
      return Claim(leases: leases, hasSuspects: hasSuspects, next: wait)
    }
  }

  /// Makes payloads ready that holders have lost, or that are due.
  ///
  /// - Returns: when the first of the remaining leases runs out; nil when none remains.
  func freeWork(_ connection: Database, _ tally: inout QueueTally, _ now: QueueMoment) throws -> Int64? {
    var next: Int64?
    if tally.leased > 0 {
      let taken = try connection.takeOver(.work, now, slot)
      next = taken.next
      tally.leased -= taken.count
      tally.ready += taken.count
    }
    if tally.waiting > 0 {
      let due = try connection.endDelays(.work, now)
      tally.waiting -= due
      tally.ready += due
    }
    return next
  }

  /// Returns the fence of the first lease that this handle may have taken, of work or of
  /// deliveries.
  func first(_ tally: QueueTally) -> Int64 {
    firstFence.withLock { first in
      let fence = first ?? tally.lastFence + 1
      first = fence
      return fence
    }
  }
}

/// One reading of the clocks, in the form that the database stores.
struct QueueMoment {
  let wall: Int64
  let uptime: Int64
  /// The number of the machine's start in the queue.
  let boot: Int64

  init(_ clock: any QueueClock, _ connection: Database) throws {
    boot = try connection.number(ofBoot: clock.boot)
    wall = clock.wall.microseconds
    uptime = clock.uptime.microseconds
  }
}

extension Database {
  /// Leases the first claimable rows.
  fileprivate func lease(_ request: ClaimRequest, to worker: Int64, _ now: QueueMoment, _ tally: inout QueueTally) throws -> [Lease] {
    let leases = try first(request, fence: tally.lastFence + 1)
    guard !leases.isEmpty else { return [] }
    try lease(
      leases.lazy.map(\.token.id), of: .work, to: worker, fence: tally.lastFence + 1, alone: request.isAlone, now, for: request.span)
    tally.lastFence += 1
    tally.ready -= leases.count
    tally.leased += leases.count
    return leases
  }

  /// Returns the claimable payloads in their order, within the limits of the request.
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
}
