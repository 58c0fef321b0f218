internal import Attache
package import AttacheQueue

extension PostgreSQLQueue {
  package func shareDelivery(_ share: DeliveryShare) throws(QueueError) {
    guard try presence.enterDelivery(share) else { throw .unavailable("\(pool.name): \(share.conflict)") }
  }

  package func settle(_ settled: [SettledDelivery], claiming request: DeliveryRequest?) throws(QueueError) -> DeliveryClaim {
    let worker = try presence.enter()
    guard !presence.hasLostShare else {
      throw .unavailable("\(pool.name): another process took the deliveries while the connection was lost; start again")
    }
    var claim = DeliveryClaim()
    claim.refused = try settle(settled, worker)
    do throws(QueueError) {
      if let request {
        try lease(request, worker, &claim)
      } else {
        claim.hasUndecided = try pool.call { attempt throws(SessionError) in try attempt.run([Execution(Self.undecided)])[0].flag(0, 0) }
      }
      if request?.includesFiles == true { try addFiles(to: &claim.deliveries) }
    } catch {
      // The dispositions are stored. If the error persists, the next call throws it.
      guard !settled.isEmpty else { throw error }
      (claim.hasUndecided, claim.next) = (true, .zero)
    }
    return claim
  }

  package func renewDeliveries(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken> {
    try renew(.result, leases, for: span)
  }

  private static let undecided = Statement("undecided", "SELECT EXISTS (SELECT 1 FROM work)")

  // MARK: Dispositions

  private func settle(_ settled: [SettledDelivery], _ worker: Int64) throws(QueueError) -> Set<LeaseToken> {
    let (settled, repeated) = Self.distinct(settled, \.token)
    guard !settled.isEmpty else { return [] }
    forgetFloor(.result)
    let ids = Parameter.integers(settled.map(\.token.id))
    let settle = Execution(
      Self.storeDispositions, ids, .integers(settled.map(\.token.fence)), .texts(settled.map(\.disposition.status)),
      .texts(settled.map { $0.disposition.answer.map(PayloadEvent.bounded) }), .integers(settled.map(\.disposition.delay)),
      .booleans(settled.map(\.disposition.wasTried)),
      .booleans(settled.map(\.disposition.isDeath)), .booleans(settled.map(\.disposition.isAlone)),
      .texts(settled.map { $0.disposition.text.map(PayloadEvent.bounded) }),
      .integer(worker), uptime, wall, .booleans(settled.map(\.disposition.counts)), .integer(Delivery.longestPause.microseconds))
    let stored = try pool.call { attempt throws(SessionError) -> [LeaseToken] in
      let stored = try attempt.run([Execution(Self.lockResults, ids), settle], isSynchronous: isSynchronous(isOfLease: false))[1].tokens
      guard attempt.isRepeated else { return stored }
      // The fence of a delivery that is over stays, so an earlier attempt is recognised. Whether it
      // gave back the others is not known, and does not matter.
      let before = try attempt.run([Execution(Self.overBefore, ids, .integers(settled.map(\.token.fence)))])[0].tokens
      return stored + before + settled.filter { $0.disposition.status == nil }.map(\.token)
    }
    return Set(settled.map(\.token)).subtracting(stored).union(repeated)
  }

  static let lockResults = Statement(
    "lock_results", "SELECT count(*) FROM (SELECT 1 FROM result WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE) AS locked")

  private static let overBefore = Statement(
    "over_before",
    """
    SELECT id, fence FROM unnest($1::bigint[], $2::bigint[]) AS given (id, fence)
    WHERE (SELECT r.fence = given.fence AND r.state IS NULL FROM result r WHERE r.id = given.id)
    """)

  private static let ended = [
    "unread": "-count(*)", "done": "-count(*) FILTER (WHERE NOT dead)",
  ].merging(Tally.ended(counting: "count(*)", where: "status")) { first, _ in first }

  private static let storeDispositions = Statement(
    "settle",
    """
    WITH given AS MATERIALIZED (
        \(LeaseTable.placed(
          .result, "id, fence, status, answer, delay, tried, death, alone, text, counts",
          """
          $1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::boolean[], $7::boolean[], $8::boolean[], $9::text[],
            $13::boolean[]
          """,
          worker: "$10::bigint"))),
      settled AS (
        UPDATE result r SET
          state = CASE WHEN given.status IS NOT NULL THEN NULL WHEN given.delay IS NOT NULL THEN 2
            ELSE \(LeaseTable.ready(deaths: "r.deaths + given.death::integer")) END,
          status = given.status, answer = given.answer,
          delivered_at = CASE WHEN given.status IS NOT NULL THEN coalesce($12::bigint, clock_us()) END,
          attempts = r.attempts + given.tried::integer, deaths = r.deaths + given.death::integer,
          deaths_alone = r.deaths_alone + given.alone::integer,
          until = coalesce($11::bigint, clock_us()) + given.delay,
          moment = CASE WHEN given.delay IS NOT NULL THEN (SELECT expires_at FROM payload WHERE payload.id = r.id) END,
          worker = NULL, alone = NULL, fence = CASE WHEN given.status IS NOT NULL THEN r.fence END,
          tried_for = r.tried_for + CASE WHEN given.counts
            THEN greatest(0, least($14::bigint, coalesce($12::bigint, clock_us()) - coalesce(r.tried_at, $12::bigint, clock_us()))) ELSE 0 END,
          tried_at = CASE WHEN given.tried AND NOT given.death THEN coalesce($12::bigint, clock_us()) ELSE r.tried_at END
        FROM given WHERE r.ctid = given.place
        RETURNING r.id, given.fence, given.status, r.attempts, given.text, r.dead),
      counted AS (
        \(Tally.add("$10::bigint", .deliveries, ended, from: "settled WHERE status IS NOT NULL"))),
      noted AS (\(PostgreSQLQueue.note(.delivery, from: "settled", moment: "$12::bigint")))
    SELECT id, fence FROM settled
    """)

  // MARK: Leases

  /// Adds the records and the names of results.
  private func addFiles(to deliveries: inout [Delivery]) throws(QueueError) {
    let rows = try pool.call { [deliveries] attempt throws(SessionError) in
      try attempt.run([Execution(Self.files, .integers(deliveries.map(\.token.id)))])[0]
    }
    for row in 0..<rows.count {
      guard let index = deliveries.firstIndex(where: { $0.token.id == rows.integer(row, 0) }) else { continue }
      (deliveries[index].record, deliveries[index].name) = (rows.bytes(row, 1), rows.textIfAny(row, 2))
    }
  }

  private static let files = Statement(
    "files", "SELECT o.id, o.record, p.name FROM output o JOIN payload p ON p.id = o.id WHERE o.id = ANY ($1::bigint[])")

  private func lease(_ request: DeliveryRequest, _ worker: Int64, _ claim: inout DeliveryClaim) throws(QueueError) {
    presence.record(span: request.span)
    // While the connection that holds the share is lost, another deliverer may have it.
    guard presence.isConnected else { return (claim.hasUndecided, claim.next) = (true, ClaimStatements.leastPause) }
    try undoDoubted(.result, worker)
    try keepUp(.result, worker, span: request.span)
    guard let rate = request.rate else { return try leaseNext(request, worker, &claim) }
    let interval = DeliveryPace.interval(rate)
    // An idle or paused queue is only looked at.
    let isReady = try pool.call { attempt throws(SessionError) in try attempt.run([Execution(Self.isReady)])[0].flag(0, 0) }
    var request = request
    guard isReady else {
      request.limit = 0
      return try leaseNext(request, worker, &claim)
    }
    let (allowed, wait) = try reserve(request.limit, interval)
    if allowed > 0 {
      request.limit = allowed
      try leaseNext(request, worker, &claim)
      // The leases count, whatever becomes of the places: at most a tenth of a second of the rate is lost.
      _ = try? reserve(claim.deliveries.count - allowed, interval)
    } else {
      (claim.hasUndecided, claim.next) = (true, wait)
    }
  }

  /// Takes places in the rate that all deliverers share (``DeliveryPace``), or gives places back.
  ///
  /// - Parameters:
  ///   - count: a negative number of places is given back.
  ///   - interval: the time of one result, in microseconds.
  /// - Returns: the number of places taken, and how long until the next is free.
  @discardableResult
  private func reserve(_ count: Int, _ interval: Int64) throws(QueueError) -> (count: Int, wait: Duration) {
    guard count != 0 else { return (0, .zero) }
    let reserve = Execution(
      Self.reserve, .integer(Int64(count)), .integer(interval), .integer(max(interval, DeliveryPace.span.microseconds)), wall)
    return try pool.call { attempt throws(SessionError) in
      let rows = try attempt.run([reserve], isSynchronous: isSynchronous(isOfLease: true))[0]
      return (Int(rows.integer(0, 0)), .microseconds(max(0, rows.integer(0, 1))))
    }
  }

  private static let isReady = Statement(
    "is_ready", "SELECT EXISTS (SELECT 1 FROM result WHERE state IN (0, 1)) AND NOT EXISTS (\(ClaimStatements.paused(.result)))")

  private static let reserve = Statement(
    "reserve",
    """
    UPDATE pace SET until = start + count * $2::bigint
    FROM (
      SELECT now, start, CASE WHEN $1::bigint < 0 THEN $1::bigint ELSE least($1::bigint, (now - start) / $2::bigint) END AS count
      FROM (
        SELECT now, CASE WHEN $1::bigint < 0 THEN until WHEN until > now THEN now ELSE greatest(until, now - $3::bigint) END AS start
        FROM (SELECT until, coalesce($4::bigint, clock_us()) AS now FROM pace FOR UPDATE) AS locked) AS begun) AS given
    RETURNING given.count, pace.until + $2::bigint - given.now
    """)

  private func leaseNext(_ request: DeliveryRequest, _ worker: Int64, _ claim: inout DeliveryClaim) throws(QueueError) {
    if request.isOrdered { return try leaseInOrder(request, worker, &claim) }
    let (call, floor) = begin(.result)
    let (claimed, remainder, isUndecided) = try trackingUnknownOutcome(.result, call) { attempt throws(SessionError) in
      let claimed = try ClaimStatements.result.run(
        attempt, limit: request.limit, bytes: request.maximumBytes, span: request.span, isAlone: request.isAlone, worker: worker,
        call: call,
        floor: request.isAlone ? nil : floor, uptime: uptime, isSynchronous: isSynchronous(isOfLease: true))
      note(.result, claimed)
      let remainder = try ClaimStatements.result.remainder(attempt, uptime: uptime, wall: wall)
      return (claimed, remainder, try attempt.run([Execution(Self.undecided)])[0].flag(0, 0))
    }
    claim.deliveries = claimed.rows.map(Delivery.init)
    claim.hasUndecided = isUndecided
    claim.pause = remainder.pause
    claim.hasSuspects = remainder.hasSuspects && claim.pause == nil
    claim.next = remainder.next
  }

  /// Leases the next results in the order enqueued. This is the only deliverer, so between the two
  /// calls results can only become ready.
  private func leaseInOrder(_ request: DeliveryRequest, _ worker: Int64, _ claim: inout DeliveryClaim) throws(QueueError) {
    let limit = max(0, min(request.isAlone ? min(1, request.limit) : request.limit, ClaimStatements.limit))
    let wanted: Int64 = request.isAlone ? 1 : 0
    let (ids, suspectIsFirst) = try pool.call { attempt throws(SessionError) -> ([Int64], Bool) in
      let rows = try attempt.run([Execution(Self.inOrder, .integer(Int64(limit)))])[0]
      var (ids, room) = ([Int64](), request.maximumBytes)
      for row in 0..<rows.count {
        let state = rows.integer(row, 1)
        guard state == wanted else { return (ids, state == 1 && !request.isAlone) }
        guard ids.count < limit else { break }
        room -= Int(rows.integer(row, 2))
        guard room >= 0 || ids.isEmpty else { break }
        ids.append(rows.integer(row, 0))
      }
      return (ids, false)
    }
    let (call, _) = begin(.result)
    let lease = Execution(
      Self.leaseOrdered, .integers(ids), .integer(worker), .integer(request.span.microseconds), .boolean(request.isAlone), uptime,
      .integer(call))
    let (rows, remainder, isUndecided) = try trackingUnknownOutcome(.result, call) { attempt throws(SessionError) in
      // A repeated attempt leases again what it leased before, with a new fence.
      let rows = ids.isEmpty ? nil : try attempt.run([lease], isSynchronous: isSynchronous(isOfLease: true))[0]
      let remainder = try ClaimStatements.result.remainder(attempt, uptime: uptime, wall: wall)
      return (rows, remainder, try attempt.run([Execution(Self.undecided)])[0].flag(0, 0))
    }
    if let rows { claim.deliveries = (0..<rows.count).map { Delivery(ClaimStatements.Row(rows: rows, index: $0)) } }
    claim.hasUndecided = isUndecided
    claim.pause = remainder.pause
    claim.hasSuspects = suspectIsFirst && claim.pause == nil
    // A claim for a suspect may find another result before it.
    let foundAnother = request.isAlone && claim.deliveries.isEmpty
    claim.next =
      claim.pause != nil
      ? remainder.next : suspectIsFirst || foundAnother ? .zero : remainder.wait.map { max($0, ClaimStatements.leastPause) }
  }

  private static let inOrder = Statement(
    "in_order",
    """
    SELECT id, state, bytes FROM result WHERE state IS NOT NULL AND state <> 3 AND id < coalesce((SELECT min(id) FROM work), 9223372036854775807)
    ORDER BY id LIMIT CASE WHEN EXISTS (\(ClaimStatements.paused(.result))) THEN 0 ELSE $1::bigint + 1 END
    """)

  private static let leaseOrdered = Statement(
    "lease_ordered",
    """
    WITH fenced AS MATERIALIZED (SELECT nextval('fence') AS fence),
      taken AS (
        UPDATE result w SET state = 3, worker = $2::bigint, fence = (SELECT fence FROM fenced), alone = $4::boolean,
          until = coalesce($5::bigint, clock_us()) + $3::bigint
        FROM payload p, output o WHERE w.id = ANY ($1::bigint[]) AND p.id = w.id AND o.id = w.id
          AND (w.state IN (0, 1) OR w.state = 3 AND w.worker = $2::bigint)
        RETURNING w.id, w.rank, w.fence, w.bytes, w.attempts, w.deaths, w.deaths_alone, p.expires_at, coalesce(o.line, p.line) AS line, w.outcome,
          w.reason, w.tried_for),
      numbered AS (\(ClaimStatements.numbering(.result, worker: "$2::bigint", call: "$6::bigint")))
    SELECT 0, id, rank, fence, bytes, attempts, deaths, deaths_alone, expires_at, line, outcome, reason, 0, tried_for
      FROM taken ORDER BY id
    """)
}

extension Delivery {
  fileprivate init(_ row: ClaimStatements.Row) {
    self.init(
      token: row.token, line: row.line ?? [], outcome: row.outcome, reason: row.reason, attempt: row.attempt, expiresAt: row.expiresAt,
      deaths: row.deaths, deathsAlone: row.deathsAlone)
    triedFor = row.triedFor
  }
}

extension SettledDelivery.Disposition {
  fileprivate var status: String? {
    switch self {
    case .over(let status, _): status.rawValue
    case .returned, .senderEnded: nil
    }
  }

  fileprivate var answer: String? {
    switch self {
    case .over(_, let answer): answer
    case .returned, .senderEnded: nil
    }
  }

  /// In microseconds; nil when the result is ready at once.
  fileprivate var delay: Int64? {
    switch self {
    case .returned(let span, _, _): span > .zero ? span.microseconds : nil
    case .over, .senderEnded: nil
    }
  }

  /// Why the attempt failed.
  fileprivate var text: String? {
    switch self {
    case .returned(_, let tried, _): tried
    case .senderEnded(_, let tried): tried
    case .over: nil
    }
  }

  fileprivate var wasTried: Bool { text != nil }

  fileprivate var counts: Bool {
    switch self {
    case .returned(_, _, let counts): counts
    case .over, .senderEnded: false
    }
  }

  fileprivate var isDeath: Bool {
    switch self {
    case .senderEnded: true
    case .over, .returned: false
    }
  }

  fileprivate var isAlone: Bool {
    switch self {
    case .senderEnded(let isAlone, _): isAlone
    case .over, .returned: false
    }
  }
}
