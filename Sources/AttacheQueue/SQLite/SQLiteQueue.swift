package import Attache
internal import GRDB
internal import Glibc
internal import Synchronization

/// A queue in an SQLite database file. Several processes and users of a machine can share it.
///
/// ``SyncChoice`` determines what a power failure may undo. With `always`, nothing: each call waits
/// for the disk. With `group`, the changes of the last second (``SyncChoice/groupWindow``) or since
/// ``sync()``, if the queue is called at least that often. With `off`, what the system has not
/// written yet, and the file may be damaged. A crashed process never loses data.
///
/// A queue at `PATH` has four files: `PATH`, SQLite's `PATH-wal` and `PATH-shm` while it is in use,
/// and `PATH-workers` (``WorkerSlot``).
package final class SQLiteQueue: PayloadQueue {
  let file: QueueFile
  let clock: any QueueClock
  let slot: WorkerSlot
  let database: DatabaseQueue
  package let identity: String
  private let choice: SyncChoice
  let log: QueueLog
  private let unsynced = Mutex(Unsynced())
  private let syncing = Mutex(())
  /// The fence of the first lease that this handle may have taken; nil before its first claim.
  let firstFence = Mutex<Int64?>(nil)

  /// The changes that a power failure would undo.
  private struct Unsynced {
    var hasChanges = false
    /// When the first of these changes was made.
    var since = Duration.zero
    /// Whether a sync has failed since the log was started. The next successful sync does not prove
    /// that the data of the failed one is on disk.
    var isDoubtful = false
  }

  package var capabilities: QueueCapabilities { QueueCapabilities(leasesEndWithMachine: true) }

  /// Opens a queue.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - creates: whether to create a missing queue.
  ///   - sync: what a power failure may undo.
  ///   - clock: measures leases, delays and times.
  /// - Throws: ``QueueError`` when the queue cannot be opened or created.
  package convenience init(path: String, creates: Bool, sync: SyncChoice, clock: any QueueClock) throws(QueueError) {
    try self.init(path: path, creates: creates, sync: sync, clock: clock, waits: .process)
  }

  /// - Parameters:
  ///   - waits: limits and reports the waits for other processes.
  ///   - fdatasync: the system call; tests replace it.
  package init(
    path: String, creates: Bool, sync: SyncChoice, clock: any QueueClock, waits: LockWaits,
    fdatasync: @escaping @Sendable (Int32) -> Int32 = Glibc.fdatasync
  ) throws(QueueError) {
    (file, database, slot, log) = try QueueError.opening { () throws(QueueError) -> (QueueFile, DatabaseQueue, WorkerSlot, QueueLog) in
      let file = try QueueFile(path, creates: creates, waits: waits)
      let (database, slot) = try file.open(sync)
      return (file, database, slot, try QueueLog(of: file.path, fdatasync: fdatasync))
    }
    do {
      identity = try database.read { try String.fetchOne($0, sql: "SELECT identity FROM queue") ?? "" }
    } catch {
      throw file.failure(error)
    }
    self.clock = clock
    choice = sync
  }

  /// Runs `body` in one transaction: all of its changes are made, or none.
  func write<Result>(_ body: (Database, inout QueueTally) throws -> Result) throws(QueueError) -> Result {
    // Syncs before the call: when the sync fails, the call has changed nothing.
    try syncIfDue()
    defer {
      file.busy.end()
      noteChanges()
    }
    do {
      return try database.writeWithoutTransaction { connection in try connection.change(body) }
    } catch {
      throw file.failure(error)
    }
  }

  func read<Result>(_ body: (Database) throws -> Result) throws(QueueError) -> Result {
    defer { file.busy.end() }
    do {
      return try database.read(body)
    } catch {
      throw file.failure(error)
    }
  }

  private func noteChanges() {
    guard choice == .group else { return }
    let now = clock.uptime
    unsynced.withLock { unsynced in
      if !unsynced.hasChanges { unsynced = Unsynced(hasChanges: true, since: now) }
    }
  }

  private func syncIfDue() throws(QueueError) {
    guard choice == .group else { return }
    let now = clock.uptime
    let isDue = unsynced.withLock { $0.hasChanges && now - $0.since >= SyncChoice.groupWindow }
    if isDue { try sync() }
  }

  /// Waits until all changes so far are on disk.
  ///
  /// After a failed sync, Linux treats the data that was not written as written. So no change is
  /// safe, and ``write(_:)`` refuses every change, until the log's changes are in the database file
  /// and synced there.
  package func sync() throws(QueueError) {
    // Otherwise SQLite does all syncing.
    guard choice == .group else { return }
    // One sync at a time: Linux reports an error to only one of two calls.
    try syncing.withLock { _ throws(QueueError) in try syncLog() }
  }

  private func syncLog() throws(QueueError) {
    let before = unsynced.withLock { unsynced in
      defer { unsynced.hasChanges = false }
      return unsynced
    }
    guard before.hasChanges else { return }
    do throws(QueueError) {
      try log.sync()
      guard before.isDoubtful else { return }
      try emptyLog()
      unsynced.withLock { $0.isDoubtful = false }
    } catch {
      unsynced.withLock { $0 = Unsynced(hasChanges: true, since: before.since, isDoubtful: true) }
      throw error
    }
  }

  /// Writes the content of the log to the database file, syncs that, and restarts the log.
  private func emptyLog() throws(QueueError) {
    defer { file.busy.end() }
    do {
      _ = try database.writeWithoutTransaction { connection in try connection.checkpoint(.truncate) }
    } catch {
      let failure = file.failure(error)
      // Another process reads the database, which is temporary.
      throw MachineFault(failure) == nil ? .disk("\(file.path): a sync failed, and the log is still in use", isReadOnly: false) : failure
    }
  }

  package func close() {
    if let worker = slot.current {
      // If this fails, the next claim takes the leases over. The byte in the lock file shows that
      // the worker did not die.
      try? write { connection, tally in
        let count = try connection.giveBackAll(.work, of: worker)
        tally.leased -= count
        tally.ready += count
        _ = try connection.giveBackAll(.delivery, of: worker)
      }
    }
    try? sync()
    slot.leave()
    try? database.close()
  }
}
