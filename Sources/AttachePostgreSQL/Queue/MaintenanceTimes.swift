/// The times of a queue's upkeep.
package struct MaintenanceTimes: Sendable {
  /// How often a handle looks for leases that ended and payloads that are due.
  package var interval: Duration
  /// How long a worker's lock may be missing before its leases are taken over. A restart of the
  /// server releases all locks, and workers take them again within this time.
  package var absence: Duration

  /// The same while this worker has just reconnected: 12 s by default. When a server's machine
  /// vanishes, workers notice it up to 11 s apart (``ServerAddress``), and reconnect then.
  var absenceAfterReconnection: Duration { absence * 4 }

  package init(interval: Duration = .milliseconds(250), absence: Duration = .seconds(3)) {
    (self.interval, self.absence) = (interval, absence)
  }
}
