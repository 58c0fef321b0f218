internal import Attache
package import AttacheQueue
internal import Synchronization

extension PostgreSQLQueue {
  package func enqueue(_ payloads: [NewPayload]) throws(QueueError) -> Int {
    guard !payloads.isEmpty else { return 0 }
    let batch = counters.withLock { counters in
      counters.batch += 1
      return counters.batch
    }
    let keys = payloads.map { $0.key.map { SHA256.hash($0).bytes } }
    // The first payload of a key counts.
    var seen: Set<[UInt8]> = []
    let places = payloads.indices.filter { index in keys[index].map { seen.insert($0).inserted } ?? true }
    let parameters: [Parameter] = [
      .byteStrings(places.map { keys[$0] }), .byteStrings(places.map { payloads[$0].line }),
      .integers(places.map { Int64(payloads[$0].priority) }), .integers(places.map { payloads[$0].notBefore?.microseconds }),
      .integers(places.map { payloads[$0].expiresAt?.microseconds }), .text(enqueuer), .integer(batch), wall,
    ]
    return try pool.call { attempt throws(SessionError) in
      let rows = try attempt.run([Execution(Self.lockNumbers), Execution(Self.insert, parameters)], waitsForDisk: waits(isOfLease: false))
      return Int(rows[1].integer(0, 0))
    }
  }

  package func knows(_ keys: [[UInt8]]) throws(QueueError) -> Int {
    guard !keys.isEmpty else { return 0 }
    let hashes = Parameter.byteStrings(keys.map { SHA256.hash($0).bytes })
    return try pool.call { attempt throws(SessionError) in try Int(attempt.run([Execution(Self.known, hashes)])[0].integer(0, 0)) }
  }

  /// A separate statement before the insertion, so that the insertion's snapshot is taken after the
  /// lock is held.
  private static let lockNumbers = Statement("lock_numbers", "SELECT last_id FROM queue FOR UPDATE")

  /// `intake` has the batch when the call is repeated and was carried out before.
  private static let insert = Statement(
    "enqueue",
    """
    WITH given AS MATERIALIZED (
        SELECT key, line, priority, not_before, expires_at, (SELECT last_id FROM queue) + row_number() OVER (ORDER BY place) AS id,
          (SELECT coalesce($8::bigint, clock_us())) AS now
        FROM unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[])
          WITH ORDINALITY AS given (key, line, priority, not_before, expires_at, place)
        WHERE NOT EXISTS (SELECT 1 FROM payload WHERE payload.key = given.key)
          AND NOT EXISTS (SELECT 1 FROM intake WHERE enqueuer = $6::text AND batch >= $7::bigint)),
      stored AS (
        INSERT INTO payload (id, priority, not_before, expires_at, enqueued_at, key, line)
        SELECT id, priority, not_before, expires_at, now, key, line FROM given),
      planned AS (
        INSERT INTO work (id, state, rank, moment, bytes)
        SELECT id, CASE WHEN least(not_before, coalesce(expires_at, not_before)) > now AND not_before IS NOT NULL THEN 2 ELSE 0 END,
          -greatest(priority, -9223372036854775807),
          CASE WHEN not_before IS NOT NULL AND least(not_before, expires_at) > now THEN least(not_before, expires_at) END, octet_length(line)
        FROM given RETURNING state),
      numbered AS (
        UPDATE queue SET last_id = last_id + (SELECT count(*) FROM given) WHERE EXISTS (SELECT 1 FROM given)),
      counted AS (
        \(Tally.add("-1", .claims, ["ready": "count(*) FILTER (WHERE state = 0)", "waiting": "count(*) FILTER (WHERE state = 2)"], from: "planned"))),
      noted AS (
        INSERT INTO intake VALUES ($6::text, $7::bigint, (SELECT count(*) FROM given), coalesce($8::bigint, clock_us()))
        ON CONFLICT (enqueuer) DO UPDATE SET batch = excluded.batch, added = excluded.added, at = excluded.at WHERE intake.batch < excluded.batch)
    SELECT coalesce((SELECT added FROM intake WHERE enqueuer = $6::text AND batch >= $7::bigint), (SELECT count(*) FROM given))
    """)

  private static let known = Statement(
    "knows", "SELECT count(*) FROM unnest($1::bytea[]) AS given (key) WHERE EXISTS (SELECT 1 FROM payload WHERE payload.key = given.key)")
}
