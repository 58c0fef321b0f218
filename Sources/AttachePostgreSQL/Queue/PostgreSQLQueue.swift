package import Attache
package import AttacheQueue
internal import Synchronization

/// A queue in a PostgreSQL database, which several machines can share.
///
/// The server's clock measures leases, delays and times, so the workers' clocks do not matter. A
/// call waits for a server for at most ``QueueOpening/timeout``. When the connection is lost, the
/// call is repeated on another one, and nothing is done twice.
///
/// ``SyncChoice`` sets which commits wait for the server's disk and for its synchronous standbys.
/// With `always`, all. With `group`, all but those that take or renew leases: a crash of the server
/// may undo leases, never a result. With `off`, none.
package final class PostgreSQLQueue: PayloadQueue {
  let pool: SessionPool
  let presence: WorkerPresence
  private let choice: SyncChoice
  /// Nil in production: the server's clock counts.
  let clock: (any QueueClock)?
  let upkeepTimes: MaintenanceTimes
  /// Identifies this handle's calls of `enqueue`.
  let enqueuer: String
  let counters = Mutex(Counters())
  /// Held during an `enqueue`, so that the batches of a handle reach the server in their order.
  let enqueuing = Mutex(())
  private let queueIdentity: String

  /// The state of a handle.
  struct Counters {
    /// The number of the last batch of `enqueue`.
    var batch: Int64 = 0
    /// The numbers of claims that threw, by table.
    var doubted: [LeaseTable: Int64] = [:]
    /// The batch of an `enqueue` whose outcome is unknown, and what identifies its payloads.
    var unknownBatch: (number: Int64, digest: [UInt8])?
    /// The number of the last claim of each ``LeaseTable``.
    var calls: [LeaseTable: Int64] = [:]
    /// When this handle's last upkeep of a table began.
    var upkeeps: [LeaseTable: MonotonicInstant] = [:]
    /// When this handle last deleted what is no longer needed.
    var tidied: MonotonicInstant?
    /// The position of the last row that a claim leased, by table. The next claim starts behind it.
    var floors: [LeaseTable: Floor] = [:]
  }

  /// The position of a row. The index entries before it are dead, because their rows were leased.
  /// A claim also looks at rows of a higher priority.
  struct Floor {
    var rank: Int64
    var moment: Int64
    var id: Int64
  }

  /// Opens a queue.
  ///
  /// - Throws: ``QueueError/unavailable(_:)`` when no server answers, or the queue does not exist
  ///   and `opening.creates` is false.
  package init(
    _ address: PostgreSQLAddress, _ opening: QueueOpening, upkeep: MaintenanceTimes = MaintenanceTimes(),
    connecting: Connecting = Connecting(),
    waits: LockWaits = .process
  ) throws(QueueError) {
    choice = opening.sync
    clock = opening.clock is SystemQueueClock ? nil : opening.clock
    upkeepTimes = upkeep
    let machine = SystemFile.firstLine(of: "/etc/machine-id") ?? SystemFile.hostName
    // Random, so that no other handle has it.
    enqueuer = "\(machine)/\((0..<4).map { _ in String(UInt32.random(in: .min ... .max), radix: 16) }.joined(separator: "-"))"
    pool = SessionPool(
      address.servers, name: address.description.onOneLine, timeLimit: opening.timeout, connecting: connecting, waits: waits)
    queueIdentity = try SchemaOpening(pool, address.schema).run(creates: opening.creates)
    presence = WorkerPresence(pool, name: SystemFile.hostName, clock: clock)
  }

  deinit {
    presence.end()
    pool.close()
  }

  package var capabilities: QueueCapabilities { QueueCapabilities(leasesEndWithMachine: false) }

  package var identity: String { queueIdentity }

  package func sync() throws(QueueError) {
    // With `always` and `group`, each change that must not be lost is safe when its call returns.
  }

  package func stopWaiting() { pool.stopWaiting() }

  package func close() {
    if let worker = presence.current { try? leave(worker) }
    presence.end()
    pool.close()
  }

  // MARK: Calls

  /// Whether a commit waits for the disk.
  ///
  /// - Parameter isOfLease: whether the call only takes or renews leases.
  func isSynchronous(isOfLease: Bool) -> Bool {
    switch choice {
    case .always: true
    case .group: !isOfLease
    case .off: false
    }
  }

  /// The test's clocks as parameters; NULL in production, where the server's clock counts.
  var wall: Parameter { .integer(clock?.wall.microseconds) }
  var uptime: Parameter { .integer(clock?.uptime.microseconds) }
}
