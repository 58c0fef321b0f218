internal import Attache
package import AttacheQueue
internal import Synchronization

/// A queue in a PostgreSQL database, which several machines can share.
///
/// The server's clock measures leases, delays and times, so the clocks of workers do not matter. A
/// call waits for a server for as long as the address's opener allows. When the connection is lost,
/// the call is repeated on another one, and does nothing twice.
///
/// ``SyncChoice`` sets which commits wait for the server's disk and for its synchronous standbys.
/// With `always`, all. With `group`, all but those that take, renew or give back leases: a crash of
/// the server undoes leases, never a result. With `off`, none.
package final class PostgreSQLQueue: PayloadQueue {
  let pool: SessionPool
  let presence: Presence
  private let choice: SyncChoice
  /// Nil in production: the server's clock counts.
  let clock: (any QueueClock)?
  let upkeepTimes: UpkeepTimes
  /// The machine whose files the holds of this handle are.
  let machineName: String
  /// Identifies this handle's calls of `enqueue`.
  let enqueuer: String
  let counters = Mutex(Counters())
  private let queueIdentity: String

  /// The state of a handle.
  struct Counters {
    /// The number of the last batch of `enqueue`.
    var batch: Int64 = 0
    /// The number of the last claim of each ``LeaseTable``.
    var calls: [LeaseTable: Int64] = [:]
    /// When this handle's last upkeep of a table began.
    var upkeeps: [LeaseTable: MonotonicInstant] = [:]
    /// When this handle last deleted what is no longer needed.
    var tidied: MonotonicInstant?
    /// The position behind which the next claim of a table starts; nil for the beginning.
    var floors: [LeaseTable: Floor] = [:]
  }

  /// The position of a claim's first row. The rows before it were taken, and their index entries
  /// are dead.
  struct Floor {
    var rank: Int64
    var moment: Int64
    var id: Int64
  }

  /// Opens a queue.
  ///
  /// - Throws: ``QueueError/unavailable(_:)`` when no server answers, or the queue does not exist
  ///   and `opening.creates` is false.
  package init(_ address: PostgreSQLAddress, _ opening: QueueOpening, upkeep: UpkeepTimes = UpkeepTimes()) throws(QueueError) {
    choice = opening.sync
    clock = opening.clock is SystemQueueClock ? nil : opening.clock
    upkeepTimes = upkeep
    machineName = MachineName.current
    enqueuer = "\(machineName)/\(UniqueName.make())"
    pool = SessionPool(address.servers, name: address.description.onOneLine, patience: opening.timeout)
    queueIdentity = try Opening(pool, address.schema).run(creates: opening.creates)
    presence = Presence(pool, name: machineName, clock: clock)
  }

  deinit {
    presence.end()
    pool.close()
  }

  package var capabilities: QueueCapabilities { QueueCapabilities(leasesEndWithMachine: false) }

  package var identity: String? { queueIdentity }

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
  /// - Parameter isOfLease: whether the call only takes or gives back leases.
  func waits(isOfLease: Bool) -> Bool {
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

/// The times of a queue's upkeep.
package struct UpkeepTimes: Sendable {
  /// How often a handle looks for leases that ended and payloads that are due.
  package var interval: Duration
  /// How long a worker's lock may be missing before its leases are taken over. A failover or a
  /// restart of the server releases all locks, and workers take them again within this time.
  package var absence: Duration

  package init(interval: Duration = .milliseconds(250), absence: Duration = .seconds(3)) {
    (self.interval, self.absence) = (interval, absence)
  }
}

/// The name of the machine, by which the queue knows whose files its holds are.
enum MachineName {
  /// The identifier that systemd gives a machine once (machine-id(5)); the host's name where there
  /// is none.
  static let current = SystemFile.firstLine(of: "/etc/machine-id") ?? SystemFile.firstLine(of: "/proc/sys/kernel/hostname") ?? "unknown"
}

extension Duration {
  /// Whole microseconds, limited to 100,000 years.
  var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let bounded = min(max(seconds, -Self.maximumSeconds), Self.maximumSeconds)
    return bounded * 1_000_000 + attoseconds / 1_000_000_000_000
  }

  private static let maximumSeconds: Int64 = 3_155_760_000_000
}
