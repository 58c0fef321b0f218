internal import GRDB
internal import Glibc
internal import Synchronization

/// A queue in a database file of SQLite, which several processes and users of a machine may share.
///
/// What a power failure may take back is told by ``SyncChoice``: nothing with `always`, which waits
/// for the disk in each call; with `group` what was changed in the last second
/// (``SyncChoice/groupWindow``) or since ``sync()``, if the queue is called at least that often;
/// with `off` what the system has not written yet, and the file may be damaged. The death of a
/// process takes nothing in any case.
///
/// A queue at `PATH` is four files: `PATH`, SQLite's `PATH-wal` and `PATH-shm` while it is in use,
/// and `PATH-workers` (``WorkerSlot``).
public final class SQLiteQueue: PayloadQueue {
  let file: QueueFile
  let clock: any QueueClock
  let slot: WorkerSlot
  let database: DatabaseQueue
  private let choice: SyncChoice
  /// Nil where nothing is synced beside SQLite.
  private let log: QueueLog?
  private let unsynced = Mutex(Unsynced())
  private let syncing = Mutex(())
  /// The fence of the first lease that this handle may have taken; nil before its first claim.
  let firstFence = Mutex<Int64?>(nil)

  /// What a power failure would take back.
  private struct Unsynced {
    var hasChanges = false
    /// When all was safe, or there was nothing.
    var since = Duration.zero
    /// Whether a sync has failed since the log was begun: the next that succeeds says nothing of
    /// what that one was to write.
    var isDoubtful = false
  }

  /// Opens a queue.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - creates: whether it is made when it is not there.
  ///   - sync: what a power failure may take back.
  ///   - clock: what leases, delays and moments are measured by.
  public convenience init(path: String, creates: Bool, sync: SyncChoice, clock: any QueueClock) throws(QueueError) {
    try self.init(path: path, creates: creates, sync: sync, clock: clock, patience: 10)
  }

  /// - Parameters:
  ///   - patience: how long a call waits for other processes, in seconds.
  ///   - fdatasync: the system's.
  package init(
    path: String, creates: Bool, sync: SyncChoice, clock: any QueueClock, patience: Int,
    fdatasync: @escaping @Sendable (Int32) -> Int32 = Glibc.fdatasync
  ) throws(QueueError) {
    (file, database, slot, log) = try QueueError.opening { () throws(QueueError) -> (QueueFile, DatabaseQueue, WorkerSlot, QueueLog?) in
      let file = try QueueFile(path, creates: creates, patience: patience)
      let (database, slot) = try file.open(sync)
      return (file, database, slot, sync == .group ? try QueueLog(of: file.path, fdatasync: fdatasync) : nil)
    }
    self.clock = clock
    choice = sync
  }

  /// Has everything of a call done, or nothing.
  func write<Result>(_ body: (Database, inout QueueTally) throws -> Result) throws(QueueError) -> Result {
    // Before the call: when it fails, nothing of the call was done.
    try syncIfDue()
    defer { noteChanges() }
    do {
      return try database.writeWithoutTransaction { connection in try connection.change(body) }
    } catch {
      throw file.failure(error)
    }
  }

  func read<Result>(_ body: (Database) throws -> Result) throws(QueueError) -> Result {
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

  /// After a sync that failed, Linux takes what that one was to write for written. So nothing is
  /// safe, and ``write(_:)`` refuses every change, until the log's changes are in the database file
  /// and synced there.
  public func sync() throws(QueueError) {
    guard let log else { return }
    // One at a time: Linux tells an error to one of two calls.
    try syncing.withLock { _ throws(QueueError) in try sync(log) }
  }

  private func sync(_ log: QueueLog) throws(QueueError) {
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

  /// Writes what the log holds to the database file, syncs that, and begins the log anew.
  private func emptyLog() throws(QueueError) {
    do {
      _ = try database.writeWithoutTransaction { connection in try connection.checkpoint(.truncate) }
    } catch {
      let failure = file.failure(error)
      // Another process reads: that passes.
      throw MachineFault(failure) == nil ? .disk("\(file.path): a sync failed, and the log is still in use", isReadOnly: false) : failure
    }
  }

  public func close() {
    if let worker = slot.current {
      // What cannot be written now is taken over by whoever claims next: the byte in the lock file
      // says that nobody died.
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
