internal import Synchronization

/// A queue in a folder of files, for people who queue files: payloads are moved into `new`, and their results are found in `done` and `dead`.
///
///     PATH/new/cat.json            dropped by somebody: written elsewhere on the same file system, then moved here whole; what begins with a dot waits
///     PATH/done/17-cat.json        the line that leaves for it, beside its record, 17-cat.json.record; whoever takes them away has had them
///     PATH/dead/17-cat.json        the original of what ended its workers, likewise
///     PATH/refused/cat.json        dropped, but longer than a queue takes
///
/// A dropped file is one payload, which is its whole content; files are taken in by their time and then by name, with the priority and the expiry that
/// their envelope names. A queue works lines: in a JSON object that is written over several, each line feed within becomes a space, which JSON takes for
/// the same; a file that is no JSON is invalid, and leaves byte for byte.
///
/// The rest is the queue's own. The state of a payload is where its file is, and what that is called (``FolderEntry``):
///
///     ready/10/3/3017,…            due, by priority and by the number's thousands
///     later/wall,1794000060/…      not due before this second; suspects/… is for workers that hold nothing else; leased/… is in work
///     results/3/3017,…             a record; the result is there as soon as it is. originals/… are kept where a fallback has an output of its own
///     keys/…                       a file for each key; holds/of/…, by/…, freed/… what is held for which result
///     tmp/…, journal               a call on its way (``FolderJournal``)
///     lock, workers, queue         the lock of each call, with the next number; who works (``WorkerSlot``); the mark that this is a queue
///
/// A change of one file is one rename, and so are the changes of a claim, one for each payload. What changes several files, a result for one, goes
/// through the journal. A process that is killed leaves a call undone, or one that the next call completes.
public final class FolderQueue: PayloadQueue {
  let files: FolderFiles
  let clock: any QueueClock
  private let choice: SyncChoice
  private let handle = Mutex(Handle())

  /// What a handle knows by itself.
  struct Handle: Sendable {
    var slot: WorkerSlot?
    /// The files of what it has leased, as they were last called.
    var leased: [LeaseToken: String] = [:]
  }

  /// Opens a queue.
  ///
  /// - Parameters:
  ///   - path: the folder.
  ///   - creates: whether it is made when it is not there; a folder with other things in it never becomes one.
  ///   - sync: what a power failure may take back. `group` waits for the disk in each call that adds payloads or results, as `always` does.
  ///   - clock: what leases, delays and moments are measured by.
  public init(path: String, creates: Bool, sync: SyncChoice, clock: any QueueClock) throws(QueueError) {
    files = try FolderFiles(path: path, creates: creates)
    self.clock = clock
    choice = sync
    // What a killed process was writing is nothing. Who may not remove it, or cannot complete a call before, hears of it when it matters.
    try? locked { _ throws(QueueError) in
      for name in try folder.names(in: "tmp") { try folder.remove("tmp/\(name)") }
    }
  }

  var folder: QueueFolder { files.folder }
  /// Whether what adds payloads or results waits for the disk.
  var isSynced: Bool { choice != .off }

  func now() -> FolderMoment {
    FolderMoment(
      wall: clock.wall.microseconds, uptime: clock.uptime.microseconds, boot: String(FolderFiles.digest(clock.boot.utf8).prefix(16)))
  }

  /// Does something while no other call does, in this process or another; what a killed process left is completed first.
  func locked<Result: Sendable>(_ body: (inout Handle) throws(QueueError) -> Result) throws(QueueError) -> Result {
    try handle.withLock { handle throws(QueueError) in
      try files.locked { () throws(QueueError) in
        guard folder.has(FolderFiles.marker) else { throw .unavailable("\(folder.path): the queue was removed while it was in use") }
        try FolderJournal.complete(files)
        return try body(&handle)
      }
    }
  }

  /// Waits for the disk after a change that only `always` promises to keep.
  func syncIfAlways() throws(QueueError) {
    if choice == .always { try folder.sync() }
  }

  public func sync() throws(QueueError) {
    if isSynced { try folder.sync() }
  }

  public func close() {
    try? locked { (handle: inout Handle) throws(QueueError) in
      let now = now()
      for name in handle.leased.values {
        // What cannot be moved now is taken over by whoever claims next: the lock file says that nobody died.
        guard var entry = FolderEntry(name) else { continue }
        entry.release()
        _ = try? folder.move("leased/\(name)", to: entry.waiting(now))
      }
      handle.leased = [:]
    }
    try? sync()
    handle.withLock { handle in
      handle.slot?.leave()
      handle.slot = nil
    }
  }
}
