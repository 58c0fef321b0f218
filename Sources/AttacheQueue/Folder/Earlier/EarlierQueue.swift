/// A queue of an earlier attache, which kept each payload as a file whose folder and name were the
/// payload's state. It becomes a queue of this version when it is opened.
///
///     ready/10/3/3017,…       due, by priority and by the number's thousands
///     later/…/…               not due; suspects/… is for workers that hold nothing else; leased/… was in work
///     results/3/3017,…        the record of a result, whose line is in done or dead; originals/… are of fallbacks that have an output of their own
///     keys/…, holds/…         what is known of keys and holds beside the names above
///     tmp/…, journal          a call on its way (``EarlierJournal``)
///     lock, workers, queue    the lock with the next number; who works (``WorkerSlot``); the mark that this is a queue
///
/// The mark decides which queue it is. The database is written first, as a whole; then the mark is
/// renamed to `migrated`, which is the moment of the change; then the files that are in the
/// database now are removed, and `migrated` last. A process that is killed before that moment
/// leaves a database that the next call writes anew, and one that is killed afterwards leaves files
/// that the next call removes. Files in `new`, `done`, `dead` and `refused` stay where they are,
/// and without `migrated` so does everything else: it is not attache's. An earlier attache that has
/// the queue open, or opens it, finds no mark and refuses it.
struct EarlierQueue {
  let folder: QueueFolder
  let isSynced: Bool
  let clock: any QueueClock

  private static let mark: FileName = "queue"
  /// The mark while files of the earlier queue may be there still.
  static let migrated: FileName = "migrated"
  private static let version = "attache queue 1\n"
  static let workers = "workers"
  /// What is removed when everything is in the database.
  static let folders = ["ready", "later", "suspects", "leased", "results", "originals", "keys", "holds", "tmp"]

  /// Whether the folder has a queue of the earlier form.
  func isThere() throws(QueueError) -> Bool {
    guard let bytes = try folder.bytes(of: Self.mark) else { return false }
    guard bytes.elementsEqual(Self.version.utf8) else {
      throw .unavailable("\(folder.path): is no queue of this version; name another one")
    }
    return true
  }

  /// Whether files may be left of a queue that is in the database.
  func leavesRest() throws(QueueError) -> Bool {
    try folder.bytes(of: Self.migrated)?.elementsEqual(Self.version.utf8) ?? false
  }

  /// Turns it into a queue of this version; under the queue's lock.
  func migrate(_ lock: FolderLock) throws(QueueError) {
    let workers = try checkedWorkers()
    let journal = EarlierJournal(folder: folder, lock: lock)
    try journal.complete()
    let location = QueueLocation.sqlite(path: folder.path(of: FolderLayout.database))
    location.remove()
    do throws(QueueError) {
      let database = try SQLiteQueue(path: location.path, creates: true, sync: .off, clock: clock)
      defer { database.close() }
      try database.prepareFolder()
      try EarlierImport(folder: folder, database: database, workers: workers, clock: clock).run(journal.numbers)
    } catch {
      location.remove()
      throw error
    }
    if isSynced { try folder.sync() }
    try folder.move(Self.mark, to: Self.migrated)
    if isSynced { try folder.sync() }
    removeRest()
  }

  /// Refuses a queue that an earlier attache works.
  private func checkedWorkers() throws(QueueError) -> WorkerSlot? {
    guard let status = folder.status(of: FileName(Self.workers)) else { return nil }
    let slot = try WorkerSlot(path: folder.path(of: FileName(Self.workers)))
    for worker in stride(from: 1, to: status.size, by: 1) where slot.holder(worker) == .running {
      throw .unavailable(
        "\(folder.path): is worked by an earlier attache, and becomes a queue of this version only when nobody works it; "
          + "end that worker with SIGTERM and start again")
    }
    return slot
  }

  /// Removes what is in the database, if this folder had an earlier queue. What cannot be removed
  /// now is removed by the next call.
  func removeRest() {
    try? removeRestAndMark()
  }

  private func removeRestAndMark() throws(QueueError) {
    guard try leavesRest() else { return }
    try folder.remove(FileName(Self.workers))
    for name in ["ready", "later", "suspects", "leased", "results"] { try removeEntries(in: FileName(name)) }
    for name in ["originals", "keys", "holds", "tmp"] { try removeAll(in: FileName(name)) }
    // Nothing that was removed comes back without the mark.
    if isSynced { try folder.sync() }
    try folder.remove(Self.migrated)
  }

  /// Removes the files of payloads; files of others stay.
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

  /// The names in a folder; none in one that this process may not read, and behind a link: that is
  /// somebody else's.
  private func names(in place: FileName) throws(QueueError) -> [FileName] {
    do throws(QueueError) {
      return try folder.names(in: place)
    } catch .unavailable {
      return []
    }
  }
}
