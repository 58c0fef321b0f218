internal import GRDB

extension SQLiteQueue {
  /// Reads at most ``QueueLoad/countLimit`` index entries for each priority and as many leased rows,
  /// and ``QueueLoad/sampleLimit`` rows that wait: a tenth of a second at worst, however many
  /// payloads there are.
  package func load() throws(QueueError) -> QueueLoad {
    let present = slot.present(upTo: QueueLoad.workerLimit)
    return try read { connection in
      var load = QueueLoad()
      let tally = try QueueTally(connection)
      try connection.countReady(&load, total: tally.ready)
      let waiting = try connection.ranks(state: 2, index: "work_moment", columns: "0, 0", limit: QueueLoad.sampleLimit)
      let seen = waiting.reduce(0) { $0 + $1.count }
      for row in waiting { load.add(seen < tally.waiting ? row.count * tally.waiting / seen : row.count, .waiting, priority: row.priority) }
      let boot = try Int64.fetchOne(connection, sql: "SELECT number FROM boot WHERE name = ?", arguments: [clock.boot])
      var holders: [Int64: QueueLoad.Worker] = [:]
      for row in try connection.ranks(state: 3, index: "work_leased", columns: "worker, boot") {
        load.add(row.count, .leased, priority: row.priority)
        let isPresent = row.boot == boot && slot.holder(row.worker) == .running
        holders[row.worker, default: QueueLoad.Worker(name: "\(row.worker)", leases: 0, isPresent: isPresent)].leases += row.count
      }
      for worker in present where holders[worker] == nil {
        holders[worker] = QueueLoad.Worker(name: "\(worker)", leases: 0, isPresent: true)
      }
      load.workers = holders.values.sorted { ($1.leases, $0.name) < ($0.leases, $1.name) }
      load.workers.removeLast(max(0, load.workers.count - QueueLoad.workerLimit))
      return load
    }
  }
}

extension Database {
  /// Counts ready payloads by priority, and suspects with them.
  ///
  /// - Parameter total: the number of both. When the counting of only one priority stopped at the
  ///   limit, the rest of them have this priority.
  fileprivate func countReady(_ load: inout QueueLoad, total: Int) throws {
    var stopped: [Int] = []
    for priority in NewPayload.priorities {
      // The rank is the negative priority, so that the highest priority comes first.
      let comparison =
        switch priority {
        case NewPayload.priorities.upperBound: "<="
        case NewPayload.priorities.lowerBound: ">="
        default: "="
        }
      let entries = "SELECT 1 FROM work INDEXED BY work_ready WHERE state = 0 AND rank \(comparison) ? LIMIT \(QueueLoad.countLimit)"
      let count = try Int.fetchOne(cachedStatement(sql: "SELECT count(*) FROM (\(entries))"), arguments: [-priority]) ?? 0
      if count == QueueLoad.countLimit { stopped.append(priority) }
      load.add(count, .ready, priority: priority)
    }
    for row in try ranks(state: 1, index: "work_suspect", columns: "0, 0") { load.add(row.count, .ready, priority: row.priority) }
    guard stopped.count == 1, let priority = stopped.first else { return }
    load.add(max(0, total - load.depths.reduce(0) { $0 + $1.count }), .ready, priority: priority)
  }

  /// Counts rows of `work` in one state by priority and by two columns.
  ///
  /// - Parameter limit: the maximum number of rows that are read.
  fileprivate func ranks(
    state: Int, index: String, columns: String, limit: Int = QueueLoad.countLimit
  ) throws -> [(worker: Int64, boot: Int64, priority: Int, count: Int)] {
    let rows = "SELECT \(columns), rank FROM work INDEXED BY \(index) WHERE state = \(state) LIMIT \(limit)"
    return try Row.fetchAll(cachedStatement(sql: "SELECT *, count(*) FROM (\(rows)) GROUP BY 1, 2, 3")).map { row in
      (row[0], row[1], Int(-max(row[2] as Int64, -Int64.max)), row[3])
    }
  }
}
