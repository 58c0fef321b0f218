/// A queue of an earlier attache, which stored each payload as a file whose folder and name were
/// the payload's state. It is migrated to this version when it is opened.
///
///     ready/10/3/3017,…       due, by priority and by the number's thousands
///     later/…/…               not due; suspects/… for workers that hold nothing else; leased/… held by workers
///     results/3/3017,…        the record of a result, whose line is in done or dead; originals/… of fallbacks that have an output of their own
///     keys/…, holds/…         keys and holds beside the names above
///     tmp/…, journal          an incomplete call (``EarlierJournal``)
///     lock, workers, queue    the lock with the next number; the running workers (``WorkerSlot``); the mark of a queue
///
/// The mark decides which queue the folder has. The complete database is written first. Then the
/// mark is renamed to `migrated`, which commits the migration. Then the files that are in the
/// database are removed, and `migrated` last. A process that is killed before the commit leaves a
/// database that the next call writes again. A process that is killed afterwards leaves files that
/// the next call removes. Files in `new`, `done`, `dead` and `refused` stay. Without `migrated`,
/// all other files stay too, because they do not belong to attache. An earlier attache that has the
/// queue open, or opens it, finds no mark and refuses it.
struct EarlierQueue {
  let folder: QueueFolder
  let isSynced: Bool
  let clock: any QueueClock

  private static let mark: FileName = "queue"
  /// The mark while files of the earlier queue may still exist.
  static let migrated: FileName = "migrated"
  private static let version = "attache queue 1\n"
  static let workers = "workers"
  /// Removed when everything is in the database.
  static let folders = ["ready", "later", "suspects", "leased", "results", "originals", "keys", "holds", "tmp"]

  /// Whether the folder has a queue of the earlier version.
  func isThere() throws(QueueError) -> Bool {
    guard let bytes = try folder.bytes(of: Self.mark) else { return false }
    guard bytes.elementsEqual(Self.version.utf8) else {
      throw .unavailable("\(folder.path): is not a queue of this version; choose another one")
    }
    return true
  }

  /// Whether files of a migrated queue may be left.
  func leavesRest() throws(QueueError) -> Bool {
    try folder.bytes(of: Self.migrated)?.elementsEqual(Self.version.utf8) ?? false
  }

  /// Migrates the queue to this version. Called under the queue's lock.
  func migrate(_ lock: FolderLock) throws(QueueError) {
    let workers = try checkedWorkers()
    let journal = EarlierJournal(folder: folder, lock: lock)
    try journal.complete()
    let place = SQLiteAddress(file: folder.path(of: FolderLayout.database))
    place.remove()
    do throws(QueueError) {
      let database = try SQLiteQueue(path: place.file, creates: true, sync: .off, clock: clock)
      defer { database.close() }
      try database.prepareFolder()
      try EarlierImport(folder: folder, database: database, workers: workers, clock: clock).run(journal.numbers)
    } catch {
      place.remove()
      throw error
    }
    if isSynced { try folder.sync() }
    try folder.move(Self.mark, to: Self.migrated)
    if isSynced { try folder.sync() }
    removeRest()
  }

  /// Refuses a queue that a worker of an earlier attache holds.
  private func checkedWorkers() throws(QueueError) -> WorkerSlot? {
    guard let status = folder.status(of: FileName(Self.workers)) else { return nil }
    let slot = try WorkerSlot(path: folder.path(of: FileName(Self.workers)))
    for worker in stride(from: 1, to: status.size, by: 1) where slot.holder(worker) == .running {
      throw .unavailable(
        "\(folder.path): an earlier version of attache is processing this queue. It can be upgraded only while no worker uses it; "
          + "end that worker with SIGTERM and start again")
    }
    return slot
  }

  /// Removes the files of a migrated queue, if this folder had one. What cannot be removed now is
  /// removed by the next call.
  func removeRest() {
    try? removeRestAndMark()
  }

  private func removeRestAndMark() throws(QueueError) {
    guard try leavesRest() else { return }
    try folder.remove(FileName(Self.workers))
    for name in ["ready", "later", "suspects", "leased", "results"] { try removeEntries(in: FileName(name)) }
    for name in ["originals", "keys", "holds", "tmp"] { try removeAll(in: FileName(name)) }
    // The mark is removed last, when a power failure can no longer bring a removed file back.
    if isSynced { try folder.sync() }
    try folder.remove(Self.migrated)
  }

  /// Removes the files of payloads. Other files stay.
  private func removeEntries(in place: FileName) throws(QueueError) {
    for name in try names(in: place) {
      let path = name.inside(String(decoding: place.bytes, as: UTF8.self))
      if EarlierEntry(name) != nil { try folder.remove(path) } else { try removeEntries(in: path) }
    }
    folder.removeFolder(place)
  }

  private func removeAll(in place: FileName) throws(QueueError) {
    for name in try names(in: place) {
      let path = name.inside(String(decoding: place.bytes, as: UTF8.self))
      if folder.status(of: path)?.isRegular == true { try folder.remove(path) } else { try removeAll(in: path) }
    }
    folder.removeFolder(place)
  }

  /// Returns the names in a folder. Returns none for a link, and for a folder that this process may
  /// not read: it belongs to another user.
  private func names(in place: FileName) throws(QueueError) -> [FileName] {
    do throws(QueueError) {
      return try folder.names(in: place)
    } catch .unavailable {
      return []
    }
  }
}
