package import AttacheQueue

extension PostgreSQLQueue {
  package func load() throws(QueueError) -> QueueLoad {
    try pool.call { attempt throws(SessionError) in
      let limit = Parameter.integer(Int64(QueueLoad.countLimit))
      let rows = try attempt.run([
        Execution(Self.readyDepths, limit), Execution(Self.otherDepths, limit),
        Execution(Self.workers, .integer(Int64(QueueLoad.workerLimit))),
        Execution(Self.waitingCommits), Execution(Self.readyTotal),
      ])
      var load = QueueLoad()
      load.depths = Self.depths(rows[0], rows[1], total: Int(rows[4].integer(0, 0)))
      load.workers = (0..<rows[2].count).map { row in
        QueueLoad.Worker(
          name: "\(rows[2].integer(row, 0))@\(rows[2].text(row, 1))", leases: Int(rows[2].integer(row, 2)), isPresent: rows[2].flag(row, 3))
      }
      load.replication = QueueLoad.Replication(
        waitingCommits: Int(rows[3].integer(0, 0)), longestWait: .microseconds(max(0, rows[3].integer(0, 1))))
      return load
    }
  }

  /// - Parameters:
  ///   - ready: rows of priority and count, each up to the limit.
  ///   - others: rows of state, priority and count.
  ///   - total: the number of ready payloads. When the counting of only one priority stopped at the
  ///     limit, the rest of them have this priority.
  private static func depths(_ ready: Rows, _ others: Rows, total: Int) -> [QueueLoad.Depth] {
    var depths = (0..<ready.count).map { row in
      QueueLoad.Depth(priority: Int(ready.integer(row, 0)), state: .ready, count: Int(ready.integer(row, 1)))
    }
    let stopped = depths.indices.filter { depths[$0].count >= QueueLoad.countLimit }
    if stopped.count == 1, let index = stopped.first {
      depths[index].count += max(0, total - depths.reduce(0) { $0 + $1.count })
    }
    depths += (0..<others.count).map { row in
      QueueLoad.Depth(
        priority: Int(others.integer(row, 1)), state: others.integer(row, 0) == 2 ? .waiting : .leased, count: Int(others.integer(row, 2)))
    }
    return depths.filter { $0.count > 0 }
  }

  /// Ready payloads and suspects by priority. Those of a priority outside 1 to 10 count with the
  /// nearest.
  private static let readyDepths = Statement(
    "ready_depths",
    """
    SELECT priority, (SELECT count(*) FROM (
        SELECT 1 FROM work WHERE state = 0 AND rank >= CASE WHEN priority = 10 THEN -9223372036854775807 ELSE -priority END
          AND rank <= CASE WHEN priority = 1 THEN 9223372036854775807 ELSE -priority END LIMIT $1::bigint) AS counted)
      + (SELECT count(*) FROM (
        SELECT 1 FROM work WHERE state = 1 AND rank >= CASE WHEN priority = 10 THEN -9223372036854775807 ELSE -priority END
          AND rank <= CASE WHEN priority = 1 THEN 9223372036854775807 ELSE -priority END LIMIT $1::bigint) AS counted)
    FROM generate_series(1, 10) AS priorities (priority)
    """)

  private static let otherDepths = Statement(
    "other_depths",
    """
    SELECT state, least(10, greatest(1, -greatest(rank, -9223372036854775807))) AS priority, count(*)
    FROM (
      SELECT * FROM (SELECT state, rank FROM work WHERE state = 2 LIMIT $1::bigint) AS waiting
      UNION ALL SELECT * FROM (SELECT state, rank FROM work WHERE state = 3 LIMIT $1::bigint) AS leased) AS counted
    GROUP BY 1, 2
    """)

  private static let workers = Statement(
    "workers",
    """
    WITH leases AS MATERIALIZED (SELECT worker, count(*) AS count FROM work WHERE state = 3 GROUP BY worker)
    SELECT number, name, coalesce(count, 0), number IN \(WorkerPresence.present)
    FROM worker LEFT JOIN leases ON leases.worker = number ORDER BY 3 DESC, number LIMIT $1::bigint
    """)

  private static let readyTotal = Statement("ready_total", "SELECT coalesce(sum(ready), 0)::bigint FROM tally")

  private static let waitingCommits = Statement(
    "waiting_commits",
    """
    SELECT count(*), coalesce(max(extract(epoch FROM clock_timestamp() - query_start) * 1000000), 0)::bigint
    FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'SyncRep'
    """)
}
