internal import Attache
package import AttacheQueue
internal import Synchronization

extension PostgreSQLQueue {
  package func enqueue(_ payloads: [NewPayload]) throws(QueueError) -> Int {
    guard !payloads.isEmpty else { return 0 }
    return try enqueuing.withLock { _ throws(QueueError) in try add(payloads, fileBatch: nil) }
  }

  package func enqueue(_ payloads: [NewPayload], batch: String) throws(QueueError) -> Int {
    try enqueuing.withLock { _ throws(QueueError) in try add(payloads, fileBatch: batch) }
  }

  package func forgetBatch(_ batch: String) throws(QueueError) {
    _ = try pool.call { attempt throws(SessionError) in
      try attempt.run([Execution(Self.forget, .text(batch))], isSynchronous: isSynchronous(isOfLease: false))
    }
  }

  private static let forget = Statement("forget_batch", "DELETE FROM batch WHERE name = $1::text")

  private func add(_ payloads: [NewPayload], fileBatch: String?) throws(QueueError) -> Int {
    let batch = number(of: payloads)
    let keys = payloads.map { $0.key.map { SHA256.hash($0).bytes } }
    // The first payload of a key counts.
    var seen: Set<[UInt8]> = []
    let places = payloads.indices.filter { index in keys[index].map { seen.insert($0).inserted } ?? true }
    let parameters: [Parameter] = [
      .byteStringsOrNull(places.map { keys[$0] }), .byteStrings(places.map { payloads[$0].line }),
      .integers(places.map { Int64(payloads[$0].priority) }), .integersOrNull(places.map { payloads[$0].notBefore?.microseconds }),
      .integersOrNull(places.map { payloads[$0].expiresAt?.microseconds }), .text(enqueuer), .integer(batch), wall,
      places.contains { payloads[$0].name != nil } ? .texts(places.map { payloads[$0].name }) : .null, .text(fileBatch),
      .byteStringsOrNull(places.map { payloads[$0].searchKey }),
    ]
    do throws(QueueError) {
      return try pool.call { attempt throws(SessionError) in
        Int(try attempt.run([Execution(Self.insert, parameters)], isSynchronous: isSynchronous(isOfLease: false))[0].integer(0, 0))
      }
    } catch {
      if case .unknown = error { counters.withLock { $0.unknownBatch = (batch, Self.digest(payloads)) } }
      throw error
    }
  }

  /// Returns a number for a batch. The batch whose outcome is unknown gets its number again, so that
  /// it is added once.
  private func number(of payloads: [NewPayload]) -> Int64 {
    let unknown = counters.withLock { counters in
      defer { counters.unknownBatch = nil }
      return counters.unknownBatch
    }
    if let unknown, unknown.digest == Self.digest(payloads) { return unknown.number }
    return counters.withLock { counters in
      counters.batch += 1
      return counters.batch
    }
  }

  private static func digest(_ payloads: [NewPayload]) -> [UInt8] {
    SHA256.hash(payloads.flatMap { SHA256.hash($0.line).bytes + SHA256.hash($0.key ?? []).bytes }).bytes
  }

  package func knows(_ keys: [[UInt8]]) throws(QueueError) -> Int {
    guard !keys.isEmpty else { return 0 }
    let hashes = Parameter.byteStrings(keys.map { SHA256.hash($0).bytes })
    return try pool.call { attempt throws(SessionError) in try Int(attempt.run([Execution(Self.known, hashes)])[0].integer(0, 0)) }
  }

  private static let insert = Statement(
    "enqueue",
    """
    SELECT enqueue($1::bytea[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text, $7::bigint, $8::bigint, $9::text[],
      $10::text, $11::bytea[])
    """)

  /// Adds a batch. A function, for two reasons: the server has the whole batch before it locks the
  /// row of the queue, which a slow sender would hold otherwise; and the snapshots of its statements
  /// are taken after the lock is held.
  ///
  /// An array may be NULL if all its elements are. The function reads elements by their index, which
  /// takes 6.3 µs of the server's processor time for a payload of 1 KB. `unnest` and `RETURNING` copy
  /// each row, and take 10.9 µs. Sessions force generic plans (``ServerAddress``): in a custom plan,
  /// an array is a constant, and each access would scan it from its start.
  ///
  /// `intake` has the batch when the call is repeated and was carried out before.
  static let function = """
    CREATE FUNCTION enqueue(the_keys bytea[], the_lines bytea[], the_priorities bigint[], the_starts bigint[], the_expiries bigint[],
      the_enqueuer text, the_batch bigint, the_now bigint, the_names text[], the_file_batch text,
      the_search_keys bytea[]) RETURNS bigint LANGUAGE plpgsql AS $body$
    #variable_conflict use_column
    DECLARE
      the_last bigint;
      added_count bigint;
      waiting_count bigint;
      the_moment bigint;
    BEGIN
    SELECT last_id INTO the_last FROM queue FOR UPDATE;
    the_moment := coalesce(the_now, clock_us());
    SELECT added INTO added_count FROM intake WHERE enqueuer = the_enqueuer AND batch >= the_batch;
    IF FOUND THEN RETURN added_count; END IF;
    IF the_file_batch IS NOT NULL THEN
      INSERT INTO batch VALUES (the_file_batch) ON CONFLICT DO NOTHING;
      IF NOT FOUND THEN RETURN 0; END IF;
    END IF;
    IF EXISTS (SELECT 1 FROM unnest(the_keys) AS given (key) WHERE EXISTS (SELECT 1 FROM payload WHERE payload.key = given.key)) THEN
      SELECT array_agg(key ORDER BY place), array_agg(line ORDER BY place), array_agg(priority ORDER BY place),
        array_agg(not_before ORDER BY place), array_agg(expires_at ORDER BY place), array_agg(name ORDER BY place),
        array_agg(search_key ORDER BY place)
      INTO the_keys, the_lines, the_priorities, the_starts, the_expiries, the_names, the_search_keys
      FROM unnest(the_keys, the_lines, the_priorities, the_starts, the_expiries, the_names, the_search_keys)
        WITH ORDINALITY AS given (key, line, priority, not_before, expires_at, name, search_key, place)
      WHERE NOT EXISTS (SELECT 1 FROM payload WHERE payload.key = given.key);
    END IF;
    added_count := coalesce(cardinality(the_lines), 0);
    INSERT INTO payload (id, priority, not_before, expires_at, enqueued_at, key, search_key, line, name)
    SELECT the_last + place, the_priorities[place], the_starts[place], the_expiries[place], the_moment, the_keys[place],
      the_search_keys[place], the_lines[place], the_names[place]
    FROM generate_series(1, added_count) AS place;
    INSERT INTO work (id, state, rank, moment, bytes)
    SELECT the_last + place, CASE WHEN due > the_moment THEN 2 ELSE 0 END, -greatest(the_priorities[place], -9223372036854775807),
      CASE WHEN due > the_moment THEN due END, octet_length(the_lines[place])
    FROM (
      SELECT place, CASE WHEN the_starts[place] IS NOT NULL THEN least(the_starts[place], the_expiries[place]) END AS due
      FROM generate_series(1, added_count) AS place) AS given;
    SELECT count(*) INTO waiting_count FROM generate_series(1, added_count) AS place
    WHERE the_starts[place] IS NOT NULL AND least(the_starts[place], the_expiries[place]) > the_moment;
    UPDATE queue SET last_id = the_last + added_count WHERE added_count > 0;
    \(Tally.add(
      "-1", .claims, ["ready": "max(added_count - waiting_count)", "waiting": "max(waiting_count)"],
      from: "(SELECT 1 WHERE added_count > 0) AS one_row"));
    INSERT INTO intake VALUES (the_enqueuer, the_batch, added_count, the_moment)
    ON CONFLICT (enqueuer) DO UPDATE SET batch = excluded.batch, added = excluded.added, at = excluded.at;
    RETURN added_count;
    END $body$
    """

  private static let known = Statement(
    "knows", "SELECT count(*) FROM unnest($1::bytea[]) AS given (key) WHERE EXISTS (SELECT 1 FROM payload WHERE payload.key = given.key)")
}
