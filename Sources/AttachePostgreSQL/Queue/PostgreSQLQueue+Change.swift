internal import Attache
package import AttacheQueue

extension PostgreSQLQueue {
  package func retry(_ ids: [Int64]) throws(QueueError) -> Int {
    forgetFloor(.work)
    return try change(ids, [Execution(Self.requeue, .integers(ids))])
  }

  package func redeliver(_ ids: [Int64]) throws(QueueError) -> Int {
    forgetFloor(.result)
    return try change(ids, [Execution(Self.requeueDeliveries, .integers(ids))])
  }

  package func purge(_ ids: [Int64], includesUndelivered: Bool) throws(QueueError) -> (payloads: Int, released: [String]) {
    (try change(ids, [Execution(Self.deleteOld, .integers(ids), .boolean(includesUndelivered))]), [])
  }

  package func cancel(_ ids: [Int64], _ why: String) throws(QueueError) -> (payloads: Int, released: [String]) {
    let (list, why) = (Parameter.integers(ids), Parameter.text(PayloadEvent.bounded(why)))
    let records = Parameter.byteStrings(ids.map(FinishedPayload.cancelledRecord))
    return (try change(ids, [Execution(Self.cancelWork, list, records, why, wall), Execution(Self.cancelResults, list, why, wall)]), [])
  }

  package func pause(_ stage: PayloadEvent.Stage, why: String?) throws(QueueError) {
    let pause = Execution(Self.pause, .integer(stage.rawValue), wall, .text(why.map(PayloadEvent.bounded)))
    _ = try pool.call { attempt throws(SessionError) in try attempt.run([pause], isSynchronous: isSynchronous(isOfLease: false)) }
  }

  package func resume(_ stage: PayloadEvent.Stage) throws(QueueError) -> Bool {
    try pool.call { attempt throws(SessionError) in
      try attempt.run([Execution(Self.resume, .integer(stage.rawValue))], isSynchronous: isSynchronous(isOfLease: false))[0].count > 0
    }
  }

  private static let pause = Statement(
    "pause",
    """
    INSERT INTO pause VALUES ($1::bigint, coalesce($2::bigint, clock_us()), $3::text)
    ON CONFLICT (stage) DO UPDATE SET reason = coalesce(excluded.reason, pause.reason)
    """)
  private static let resume = Statement("resume", "DELETE FROM pause WHERE stage = $1::bigint RETURNING 1")

  /// Runs statements that change rows of `work` and `result` in one transaction, and returns the number of rows.
  private func change(_ ids: [Int64], _ changes: [Execution]) throws(QueueError) -> Int {
    guard !ids.isEmpty else { return 0 }
    try freeLost()
    let list = Parameter.integers(ids)
    return try pool.call { attempt throws(SessionError) in
      let steps = [Execution(Self.lockWork, list), Execution(Self.lockResults, list)] + changes
      return try attempt.run(steps, isSynchronous: isSynchronous(isOfLease: false))[2...].reduce(0) { $0 + Int($1.integer(0, 0)) }
    }
  }

  private static let requeue = Statement(
    "retry",
    """
    WITH gone AS (
        DELETE FROM result WHERE id = ANY ($1::bigint[]) AND state IS DISTINCT FROM 3 RETURNING id, dead, status, state IS NOT NULL AS unread),
      unwritten AS (DELETE FROM output o USING gone WHERE o.id = gone.id),
      again AS (
        INSERT INTO work (id, state, rank, bytes)
        SELECT p.id, 0, -greatest(p.priority, -9223372036854775807), octet_length(p.line) FROM gone, payload p WHERE p.id = gone.id),
      counted AS (\(Tally.add("0", .claims, Tally.forgotten.merging(["ready": "count(*)"]) { first, _ in first }, from: "gone")))
    SELECT count(*) FROM gone
    """)

  private static let requeueDeliveries = Statement(
    "redeliver",
    """
    WITH ended AS MATERIALIZED (
        SELECT id, dead, status, false AS unread FROM result WHERE id = ANY ($1::bigint[]) AND status <> '\(DeliveryStatus.delivered.rawValue)'),
      again AS (
        UPDATE result SET state = 0, attempts = 0, deaths = 0, deaths_alone = 0, fence = NULL, status = NULL, answer = NULL, delivered_at = NULL,
          tried_at = NULL, tried_for = 0
        WHERE id = ANY (ARRAY(SELECT id FROM ended)) RETURNING 1),
      counted AS (\(Tally.add("0", .claims, redelivered, from: "ended")))
    SELECT count(*) FROM again
    """)

  private static let redelivered = {
    var changes = Tally.forgotten
    (changes["unread"], changes["done"]) = ("count(*)", "count(*) FILTER (WHERE NOT dead)")
    changes["dead"] = "-count(*) FILTER (WHERE NOT dead AND status = '\(DeliveryStatus.poison.rawValue)')"
    return changes
  }()

  private static let deleteOld = Statement(
    "purge",
    """
    WITH gone AS (
        DELETE FROM result WHERE id = ANY ($1::bigint[]) AND (state IS NULL OR $2::boolean AND state <> 3)
        RETURNING id, dead, status, state IS NOT NULL AS unread),
      unwritten AS (DELETE FROM output WHERE id = ANY (ARRAY(SELECT id FROM gone))),
      forgotten AS (DELETE FROM payload WHERE id = ANY (ARRAY(SELECT id FROM gone))),
      uneventful AS (DELETE FROM event WHERE id = ANY (ARRAY(SELECT id FROM gone))),
      counted AS (\(Tally.add("0", .claims, Tally.forgotten, from: "gone")))
    SELECT count(*) FROM gone
    """)

  private static let cancelWork = Statement(
    "cancel_work",
    """
    WITH gone AS (DELETE FROM work WHERE id = ANY ($1::bigint[]) AND state <> 3 RETURNING id, state, rank, bytes),
      stored AS (
        INSERT INTO result (id, outcome, reason, dead, finished_at, finisher, finish_fence, status, answer, delivered_at, state, rank, bytes)
        SELECT id, '\(Outcome.fallback.rawValue)', '\(Reason.queueCancelled.rawValue)', false, coalesce($4::bigint, clock_us()), 0, 0, 'cancelled',
          $3::text, coalesce($4::bigint, clock_us()), NULL, rank, bytes FROM gone),
      written AS (
        INSERT INTO output (id, record) SELECT gone.id, given.record
        FROM gone JOIN unnest($1::bigint[], $2::bytea[]) AS given (id, record) ON given.id = gone.id),
      counted AS (
        \(Tally.add("0", .claims, [
          "ready": "-count(*) FILTER (WHERE state < 2)", "waiting": "-count(*) FILTER (WHERE state = 2)", "cancelled": "count(*)",
        ], from: "gone")))
    SELECT count(*) FROM gone
    """)

  private static let cancelResults = Statement(
    "cancel_results",
    """
    WITH over AS (
        UPDATE result SET state = NULL, status = 'cancelled', answer = $2::text, delivered_at = coalesce($3::bigint, clock_us()),
          until = NULL, moment = NULL, worker = NULL, fence = NULL, alone = NULL
        WHERE id = ANY ($1::bigint[]) AND state IS NOT NULL AND state <> 3 RETURNING dead),
      counted AS (
        \(Tally.add("0", .claims, [
          "unread": "-count(*)", "done": "-count(*) FILTER (WHERE NOT dead)", "cancelled": "count(*) FILTER (WHERE NOT dead)",
        ], from: "over")))
    SELECT count(*) FROM over
    """)
}
