internal import Attache
internal import GRDB

extension SQLiteQueue {
  package func shareDelivery(_ share: DeliveryShare) throws(QueueError) {
    guard try slot.enterDelivery(share) else { throw .unavailable("\(file.path): \(share.conflict)") }
  }

  package func settle(_ settled: [SettledDelivery], claiming request: DeliveryRequest?) throws(QueueError) -> DeliveryClaim {
    let worker = try slot.enter()
    return try write { connection, tally in
      let now = try QueueMoment(clock, connection)
      let ownFence = first(tally)
      var claim = DeliveryClaim()
      if !settled.isEmpty {
        let settling = try DeliverySettling(connection, now)
        let ends = try settled.map(settling.run)
        for case .over(let state, let isDead) in ends { tally.noteEnd(state, isDead: isDead) }
        claim.refused = Set(zip(settled, ends).lazy.filter { $0.1 == .refused }.map(\.0.token))
        claim.released = try connection.takeOrphans()
      }
      claim.hasUndecided = tally.ready + tally.waiting + tally.leased > 0
      guard var request else { return claim }
      if try connection.has(.delivery, state: 3) { try connection.keep(.delivery, worker, since: ownFence, now, for: request.span) }
      var next = try freeDeliveries(connection, now)
      claim.pause = try connection.pause(of: .delivery)
      guard claim.pause == nil else {
        claim.next = tally.unread > 0 ? QueuePause.poll : nil
        return claim
      }
      // A stored time that lies ahead is from before the clock was set back.
      if request.rate != nil { tally.pace = min(tally.pace, now.wall) }
      let pace = request.rate.map { DeliveryPace(until: tally.pace, now: now.wall, rate: $0) }
      if let pace, pace.allowed < request.limit {
        request.limit = pace.allowed
        guard pace.allowed > 0 else {
          claim.next = pace.wait
          return claim
        }
      }
      let suspectIsFirst: Bool
      (claim.deliveries, suspectIsFirst) = try connection.firstDeliveries(request, fence: tally.lastFence + 1)
      if let pace, !claim.deliveries.isEmpty { tally.pace = pace.until(after: claim.deliveries.count) }
      if request.includesFiles { try connection.addFiles(to: &claim.deliveries) }
      if !claim.deliveries.isEmpty {
        tally.lastFence += 1
        try connection.lease(
          claim.deliveries.lazy.map(\.token.id), of: .delivery, to: worker, fence: tally.lastFence, alone: request.isAlone, now,
          for: request.span)
        next = min(next ?? .max, now.uptime + request.span.microseconds)
      }
      claim.hasSuspects = try request.isOrdered ? suspectIsFirst : connection.has(.delivery, state: 1)
      // In order, a claim for a suspect may find another result before it.
      let isVain = request.isOrdered && request.isAlone && claim.deliveries.isEmpty
      let hasMore = try claim.hasSuspects || isVain || !request.isOrdered && connection.has(.delivery, state: 0)
      claim.next = hasMore ? .zero : try connection.wait(.delivery, now, leasedUntil: next)
      return claim
    }
  }

  /// Makes results ready that holders have lost, or that are due.
  ///
  /// - Returns: when the first of the remaining leases runs out; nil when none remains.
  func freeDeliveries(_ connection: Database, _ now: QueueMoment) throws -> Int64? {
    let next = try connection.has(.delivery, state: 3) ? connection.takeOver(.delivery, now, slot).next : nil
    if try connection.has(.delivery, state: 2) { _ = try connection.endDelays(.delivery, now) }
    return next
  }

  package func renewDeliveries(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken> {
    guard !leases.isEmpty else { return [] }
    return try write { connection, _ in
      try connection.renew(leases, of: .delivery, QueueMoment(clock, connection), for: span)
    }
  }
}

/// The statements that store the disposition of a delivery.
private struct DeliverySettling {
  private let connection: Database
  private let now: QueueMoment
  private let delete: BatchStatement
  private let result: BatchStatement
  /// Counts a failed attempt's time.
  private let count: BatchStatement
  private let returning: LeaseReturn
  private let hasHolds: Bool

  init(_ connection: Database, _ now: QueueMoment) throws {
    (self.connection, self.now) = (connection, now)
    delete = try connection.batch("DELETE FROM delivery WHERE id = ? AND fence = ?")
    result = try connection.batch("UPDATE result SET read = 1, status = ?2, answer = ?3, delivered_at = ?4 WHERE id = ?1 RETURNING dead")
    count = try connection.batch(
      "UPDATE delivery SET tried_for = tried_for + max(0, min(?4, ?3 - coalesce(tried_at, ?3))), tried_at = ?3 WHERE id = ?1 AND fence = ?2"
    )
    returning = try LeaseReturn(.delivery, connection, now)
    hasHolds = try Bool.fetchOne(connection.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM hold)")) ?? false
  }

  /// What became of a disposition.
  enum End: Equatable {
    /// The delivery is over.
    case over(PayloadState, isDead: Bool)
    case returned
    /// The result is leased to another deliverer, or its delivery was over already.
    case refused
  }

  func run(_ settled: SettledDelivery) throws -> End {
    let (id, fence) = (settled.token.id, settled.token.fence)
    switch settled.disposition {
    case .over(let status, let answer):
      guard try delete.run(id, fence) > 0 else { return .refused }
      try result.bind(2, status.rawValue)
      try result.bind(3, answer.map(PayloadEvent.bounded))
      result.bind(4, now.wall)
      let isDead = try result.flag(id) ?? false
      if hasHolds { try connection.orphanHolds(of: "= ?", [id]) }
      return .over(PayloadState(status), isDead: isDead)
    case .returned(let span, let tried, let counts):
      if tried != nil { try count.run(id, fence, now.wall, counts ? Delivery.longestPause.microseconds : 0) }
      return try returning.run(settled.token, after: span, wasTried: tried != nil, tried) ? .returned : .refused
    case .senderEnded(let isAlone, let tried):
      return try returning.run(settled.token, wasTried: true, tried, deaths: 1, deathsAlone: isAlone ? 1 : 0) ? .returned : .refused
    }
  }
}

extension Database {
  /// Returns the next results to send in their order, within the limits of the request. In ordered
  /// mode, also returns whether a suspect is next.
  fileprivate func firstDeliveries(_ request: DeliveryRequest, fence: Int64) throws -> ([Delivery], suspectIsFirst: Bool) {
    let limit = request.isAlone ? min(1, request.limit) : request.limit
    guard limit > 0 else { return ([], false) }
    let select = try batch(Self.query(request))
    if !request.isOrdered { select.bind(1, Int64(limit)) }
    defer { select.reset() }
    var deliveries: [Delivery] = []
    var room = request.maximumBytes
    var suspectIsFirst = false
    while deliveries.count < limit, try select.step() {
      if request.isOrdered {
        let state = select.integer(1)
        suspectIsFirst = state == 1 && !request.isAlone
        guard state == (request.isAlone ? 1 : 0) else { break }
      }
      room -= Int(select.integer(2))
      guard room >= 0 || deliveries.isEmpty else { break }
      deliveries.append(
        Delivery(
          token: LeaseToken(id: select.integer(0), fence: fence), line: select.bytes(3),
          outcome: Outcome(rawValue: select.text(4)) ?? .fallback, reason: select.isNull(5) ? nil : Reason(rawValue: select.text(5)),
          attempt: Int(select.integer(6)) + 1, expiresAt: select.integerIfAny(7).map(Duration.init(microseconds:)),
          deaths: Int(select.integer(8)), deathsAlone: Int(select.integer(9))))
      deliveries[deliveries.count - 1].triedFor = .microseconds(select.integer(10))
    }
    return (deliveries, suspectIsFirst)
  }

  /// Adds the records and the names of results.
  fileprivate func addFiles(to deliveries: inout [Delivery]) throws {
    let select = try batch("SELECT record, name FROM output CROSS JOIN payload ON payload.id = output.id WHERE output.id = ?")
    for index in deliveries.indices {
      select.bind(1, deliveries[index].token.id)
      defer { select.reset() }
      guard try select.step() else { continue }
      deliveries[index].record = select.bytes(0)
      deliveries[index].name = select.isNull(1) ? nil : select.text(1)
    }
  }

  private static func query(_ request: DeliveryRequest) -> String {
    let columns = """
      delivery.id, state, length(coalesce(output.line, payload.line)), coalesce(output.line, payload.line), outcome, reason, attempts,
        expires_at, deaths, deaths_alone, tried_for
      """
    let tables = """
      CROSS JOIN payload ON payload.id = delivery.id CROSS JOIN output ON output.id = delivery.id CROSS JOIN result ON result.id = delivery.id
      """
    guard request.isOrdered else {
      let (index, state) = request.isAlone ? ("delivery_suspect", 1) : ("delivery_ready", 0)
      return """
        SELECT \(columns) FROM delivery INDEXED BY \(index) \(tables) WHERE state = \(state) ORDER BY rank, decided, delivery.id LIMIT ?
        """
    }
    // No other deliverer shares an ordered delivery. So leased results are this deliverer's, and
    // the sender has them already.
    return """
      SELECT \(columns) FROM delivery \(tables)
      WHERE state <> 3 AND delivery.id < coalesce((SELECT min(id) FROM work), 9223372036854775807) ORDER BY delivery.id
      """
  }
}
