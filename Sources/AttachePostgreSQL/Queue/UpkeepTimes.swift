/// The times of a queue's upkeep.
package struct UpkeepTimes: Sendable {
  /// How often a handle looks for leases that ended and payloads that are due.
  package var interval: Duration
  /// How long a worker's lock may be missing before its leases are taken over. A failover or a
  /// restart of the server releases all locks, and workers take them again within this time.
  package var absence: Duration

  /// The same after a reconnection. When a server's machine vanishes, each worker notices it at
  /// another time, at most 11 s after the first (``ServerAddress``), and reconnects then.
  var absenceAfterReconnection: Duration { absence * 4 }

  package init(interval: Duration = .milliseconds(250), absence: Duration = .seconds(3)) {
    (self.interval, self.absence) = (interval, absence)
  }
}
