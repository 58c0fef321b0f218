internal import Attache
package import AttacheQueue

extension PostgreSQLQueue {
  package func renew(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken> {
    try renew(.work, leases, for: span)
  }

  /// Extends leases of a table.
  func renew(_ table: LeaseTable, _ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken> {
    guard !leases.isEmpty, let worker = presence.current else { return Set(leases) }
    presence.record(span: span)
    let statement = table == .work ? Self.renewWork : Self.renewResult
    let ids = Parameter.integers(leases.map(\.id))
    let renewal = Execution(statement, ids, .integers(leases.map(\.fence)), .integer(worker), .integer(span.microseconds), uptime)
    let kept = try pool.call { attempt throws(SessionError) in
      try attempt.run(
        [Execution(table == .work ? Self.lockWork : Self.lockResults, ids), renewal], isSynchronous: isSynchronous(isOfLease: true))[1]
        .tokens
    }
    return Set(leases).subtracting(kept)
  }

  private static let renewWork = renewal("renew_work", .work)
  private static let renewResult = renewal("renew_result", .result)

  private static func renewal(_ name: StaticString, _ table: LeaseTable) -> Statement {
    Statement(
      name,
      """
      WITH given AS MATERIALIZED (\(LeaseTable.placed(table, "id, fence", "$1::bigint[], $2::bigint[]", worker: "$3::bigint")))
      UPDATE \(table.rawValue) w SET until = (SELECT coalesce($5::bigint, clock_us())) + $4::bigint FROM given
      WHERE w.ctid = given.place RETURNING w.id, w.fence
      """)
  }

  // MARK: Results

  package func finish(_ results: [FinishedPayload]) throws(QueueError) -> Set<LeaseToken> {
    guard let worker = presence.current else { return Set(results.map(\.token)) }
    let (results, repeated) = Self.distinct(results, \.token)
    guard !results.isEmpty else { return [] }
    let tokens: [Parameter] = [.integers(results.map(\.token.id)), .integers(results.map(\.token.fence))]
    let finish = Execution(
      Self.storeResults,
      tokens + [
        .texts(results.map(\.outcome.rawValue)), .texts(results.map { $0.reason?.rawValue }), .booleans(results.map(\.isDead)),
        .byteStrings(results.map(\.record)), .byteStrings(results.map(\.output)), .integer(worker), wall,
      ])
    let stored = try pool.call { attempt throws(SessionError) in
      let steps = [Execution(Self.lockWork, tokens[0]), finish]
      var stored = Set(try attempt.run(steps, isSynchronous: isSynchronous(isOfLease: false))[1].tokens)
      if attempt.isRepeated {
        // The earlier attempt may wait for a standby still. This commit waits as well, because it
        // writes something.
        let rows = try attempt.run(
          [Execution(Self.storedResults, tokens + [.integer(worker)]), Execution(Self.touch, .text(enqueuer))],
          isSynchronous: isSynchronous(isOfLease: false))
        stored.formUnion(rows[0].tokens)
      }
      return stored
    }
    return Set(results.map(\.token)).subtracting(stored).union(repeated)
  }

  /// Returns the elements with distinct tokens, and the tokens that come twice.
  static func distinct<Element>(_ elements: [Element], _ token: (Element) -> LeaseToken) -> ([Element], Set<LeaseToken>) {
    var (seen, repeated) = (Set<LeaseToken>(), Set<LeaseToken>())
    let distinct = elements.filter { element in
      guard !seen.insert(token(element)).inserted else { return true }
      repeated.insert(token(element))
      return false
    }
    return (distinct, repeated)
  }

  /// Locks rows in the order of their numbers, so that no two calls wait for each other. It also
  /// waits for an earlier attempt, so the next statement sees its result.
  static let lockWork = Statement(
    "lock_work", "SELECT count(*) FROM (SELECT 1 FROM work WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE) AS locked")

  private static let storeResults = Statement(
    "finish",
    """
    WITH given AS MATERIALIZED (
        \(LeaseTable.placed(
          .work, "id, fence, outcome, reason, dead, record, line",
          "$1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::boolean[], $6::bytea[], $7::bytea[]", worker: "$8::bigint"))),
      gone AS (
        DELETE FROM work w USING given WHERE w.ctid = given.place
        RETURNING w.id, w.fence, w.rank, w.bytes, given.outcome, given.reason, given.dead, given.record, given.line),
      stored AS (
        INSERT INTO result (id, outcome, reason, dead, finished_at, finisher, finish_fence, state, rank, bytes)
        SELECT id, outcome, reason, dead, (SELECT coalesce($9::bigint, clock_us())), $8::bigint, fence, 0, rank, coalesce(octet_length(line), bytes)
        FROM gone),
      written AS (INSERT INTO output (id, record, line) SELECT id, record, line FROM gone),
      counted AS (
        \(Tally.add("$8::bigint", .settling, [
          "leased": "-count(*)", "done": "count(*) FILTER (WHERE NOT dead)", "dead": "count(*) FILTER (WHERE dead)", "unread": "count(*)",
        ], from: "gone"))),
      timed AS (
        INSERT INTO finished (second, worker, count)
        SELECT (SELECT coalesce($9::bigint, clock_us())) / 1000000, $8::bigint, count(*) FROM gone HAVING count(*) > 0
        ON CONFLICT (second, worker) DO UPDATE SET count = finished.count + excluded.count)
    SELECT id, fence FROM gone
    """)

  private static let storedResults = Statement(
    "finished_before",
    """
    SELECT id, fence FROM unnest($1::bigint[], $2::bigint[]) AS given (id, fence)
    WHERE (SELECT r.finish_fence = given.fence AND r.finisher = $3::bigint FROM result r WHERE r.id = given.id)
    """)

  private static let touch = Statement(
    "touch", "INSERT INTO intake VALUES ($1::text, -1, 0, clock_us()) ON CONFLICT (enqueuer) DO UPDATE SET at = excluded.at")

  // MARK: Giving back

  package func giveBack(_ payloads: [ReturnedPayload]) throws(QueueError) -> Set<LeaseToken> {
    guard let worker = presence.current else { return Set(payloads.map(\.token)) }
    let (payloads, repeated) = Self.distinct(payloads, \.token)
    guard !payloads.isEmpty else { return [] }
    forgetFloor(.work)
    let ids = Parameter.integers(payloads.map(\.token.id))
    let free = Execution(
      Self.free, ids, .integers(payloads.map(\.token.fence)), .integers(payloads.map { $0.delay > .zero ? $0.delay.microseconds : nil }),
      .booleans(payloads.map(\.wasTried)), .texts(payloads.map { $0.text.map(PayloadEvent.bounded) }), .integer(worker), uptime, wall)
    let freed = try pool.call { attempt throws(SessionError) in
      // A crash of the server must not undo it: the row would again belong to this worker, which has
      // forgotten it and lives.
      let freed = try attempt.run([Execution(Self.lockWork, ids), free], isSynchronous: isSynchronous(isOfLease: false))[1].tokens
      // Whether an earlier attempt freed the rest is not known, and does not matter.
      return attempt.isRepeated ? payloads.map(\.token) : freed
    }
    return Set(payloads.map(\.token)).subtracting(freed).union(repeated)
  }

  private static let free = Statement(
    "give_back",
    """
    WITH given AS MATERIALIZED (
        \(LeaseTable.placed(
          .work, "id, fence, delay, tried, text", "$1::bigint[], $2::bigint[], $3::bigint[], $4::boolean[], $5::text[]", worker: "$6::bigint"))),
      freed AS (
        UPDATE work w SET attempts = w.attempts + given.tried::integer,
          state = CASE WHEN given.delay IS NOT NULL THEN 2 ELSE \(LeaseTable.ready(deaths: "w.deaths")) END,
          until = coalesce($7::bigint, clock_us()) + given.delay,
          moment = CASE WHEN given.delay IS NOT NULL THEN (SELECT expires_at FROM payload WHERE payload.id = w.id) END,
          worker = NULL, fence = NULL, alone = NULL
        FROM given WHERE w.ctid = given.place
        RETURNING w.id, given.fence, w.state, w.attempts, given.text),
      counted AS (
        \(Tally.add("$6::bigint", .settling, [
          "leased": "-count(*)", "ready": "count(*) FILTER (WHERE state < 2)", "waiting": "count(*) FILTER (WHERE state = 2)",
        ], from: "freed"))),
      noted AS (\(PostgreSQLQueue.note(.work, from: "freed", moment: "$8::bigint")))
    SELECT id, fence FROM freed
    """)

  /// Returns an `INSERT` of failed attempts: of rows with an id, the number of attempts and a text.
  static func note(_ stage: PayloadEvent.Stage, from source: String, moment: String) -> String {
    """
    INSERT INTO event (id, stage, slot, attempt, moment, text)
    SELECT id, \(stage.rawValue), attempts % \(PayloadEvent.limit), attempts, coalesce(\(moment), clock_us()), text FROM \(source) WHERE text IS NOT NULL
    ON CONFLICT (id, stage, slot) DO UPDATE SET attempt = excluded.attempt, moment = excluded.moment, text = excluded.text
    """
  }

  // MARK: Leaving

  /// Gives back what a worker holds, and removes it from the workers.
  func leave(_ worker: Int64) throws(QueueError) {
    // Others take the leases over when the lock of this worker is gone, so one attempt is enough.
    _ = try pool.callOnce(waitsForLocks: false) { attempt throws(SessionError) in
      try attempt.run([Execution(Self.leave, .integer(worker))], isSynchronous: isSynchronous(isOfLease: true))
    }
  }

  private static let leave = Statement(
    "leave",
    """
    WITH freed AS (
        UPDATE work SET state = \(LeaseTable.ready()), \(LeaseTable.freed) WHERE state = 3 AND worker = $1::bigint RETURNING 1),
      undelivered AS (
        UPDATE result SET state = \(LeaseTable.ready()), \(LeaseTable.freed) WHERE state = 3 AND worker = $1::bigint RETURNING 1),
      \(Tally.fold("= $1::bigint"))
    DELETE FROM worker WHERE number = $1::bigint
    """)
}

extension Rows {
  /// The leases in the first two columns.
  var tokens: [LeaseToken] {
    (0..<count).map { LeaseToken(id: integer($0, 0), fence: integer($0, 1)) }
  }
}
