internal import Glibc
internal import Synchronization

/// The folder of attachments. Files are named after their content (`3f/3fa9….png`) and appear
/// either complete or not at all. A file is removed when it has not been used for a long time or
/// when the folder grows too large.
///
/// Several processes of one machine may share a store.
public final class AttachmentStore: Sendable {
  /// The folder of a store and its limits.
  package struct Configuration: Sendable {
    package var directory: String
    /// The size of all files together, in bytes, above which files are removed.
    package var maximumBytes: Int64 = 10_000_000_000
    /// How long a file may go unused before it is removed.
    package var maximumAge = Duration.seconds(30 * 86_400)

    package init(directory: String) {
      self.directory = directory
    }
  }

  /// The URL of the folder, with a trailing slash. A file's URL is this URL followed by its
  /// ``StoredFile/relativePath``.
  public let baseURL: String

  let root: StoreFolder
  let temporary: StoreTemporaryFolder
  /// The mode of a file: the folder's mode without the execute bits.
  let fileMode: mode_t
  /// Whether a new file does not get ``fileMode`` by itself, so that fchmod(2) must set it.
  let setsFileMode: Bool
  let limits: StoreEviction.Limits
  let clock: @Sendable () -> Duration
  let ledger: Mutex<StoreBookkeeping>
  let isPruning = Atomic<Bool>(false)
  /// Receives what keeps a prune in the background from its end, at most one message a minute.
  let pruneFailed = Mutex<(@Sendable (String) -> Void)?>(nil)
  let pruneMessages = Mutex(MinuteLimit())
  /// The number of prunes that have begun.
  let prunes = Atomic<UInt64>(0)
  /// Whether another process owns the store. The owner prunes it.
  let isFetcher: Bool
  /// Locked while a file is named, looked up or removed, so that a file that was found is not
  /// removed in between. Always taken before ``ledger``.
  private let names = Mutex(())

  /// Opens the store, creates it if it does not exist, and checks that it is writable.
  ///
  /// - Parameters:
  ///   - directory: the path of the folder. If this method creates the folder, the folder and
  ///     missing parent folders get mode 0700 and files 0600. An existing folder keeps its mode,
  ///     and files follow it: 0750 gives 0640. The umask has no effect.
  ///   - maximumBytes: the size of all files together, in bytes, above which the least recently
  ///     used files are removed.
  ///   - maximumAge: how long a file may go unused before it is removed.
  /// - Throws: ``StoreError`` when the store cannot be opened or written. Its description says what
  ///   the user can do.
  public convenience init(directory: String, maximumBytes: Int64, maximumAge: Duration) throws(StoreError) {
    try self.init(directory: directory, maximumBytes: maximumBytes, maximumAge: maximumAge, clock: Self.wallClock)
  }

  /// Opens the store that a configuration describes.
  package convenience init(_ configuration: Configuration) throws(StoreError) {
    try self.init(
      directory: configuration.directory, maximumBytes: configuration.maximumBytes, maximumAge: configuration.maximumAge)
  }

  /// Opens the store with a clock of the caller.
  ///
  /// - Parameter clock: the wall clock, since 1970. It is compared with the last use of each file.
  package init(
    directory: String, maximumBytes: Int64, maximumAge: Duration, clock: @escaping @Sendable () -> Duration
  ) throws(StoreError) {
    root = try Self.openRoot(directory)
    baseURL = try Self.fileURL(ofFolder: directory)
    limits = StoreEviction.Limits(maximumBytes: maximumBytes, maximumAge: maximumAge)
    self.clock = clock
    ledger = Mutex(StoreBookkeeping())
    isFetcher = false
    fileMode = root.mode & 0o666
    temporary = try StoreTemporaryFolder(in: root)
    setsFileMode = try Self.probe(temporary.folder, root: root, mode: fileMode) != fileMode
    try temporary.sweep()
  }

  /// Opens a store to prune it. Writes nothing, so that it works on a full disk.
  ///
  /// - Throws: ``StoreError``; with `ENOENT` if there is no folder, or if no process has used it as a store.
  package init(toPrune configuration: Configuration) throws(StoreError) {
    root = try StoreFolder(at: configuration.directory)
    baseURL = try Self.fileURL(ofFolder: configuration.directory)
    (limits, clock) = (StoreEviction.Limits(maximumBytes: configuration.maximumBytes, maximumAge: configuration.maximumAge), Self.wallClock)
    ledger = Mutex(StoreBookkeeping())
    isFetcher = false
    fileMode = root.mode & 0o666
    setsFileMode = false
    guard unsafe faccessat(root.descriptor, ".", W_OK | X_OK, AT_EACCESS) == 0 else { throw StoreError("write", root.path) }
    temporary = try StoreTemporaryFolder(ofPruneIn: root)
  }

  /// Opens, in a fetcher process, a store that the host has open. The process has no umask, since it
  /// may change no mode.
  ///
  /// - Parameters:
  ///   - temporaryName: the name of the host's folder of unfinished files.
  ///   - firstNumber: the start of this process's numbers for unfinished files in that folder. No
  ///     other process uses the 2^32 numbers from here on.
  init(sharing directory: String, limits: StoreEviction.Limits, temporaryName: String, firstNumber: UInt64) throws(StoreError) {
    root = try StoreFolder(at: directory)
    baseURL = try Self.fileURL(ofFolder: directory)
    (self.limits, clock) = (limits, Self.wallClock)
    ledger = Mutex(StoreBookkeeping(firstNumber: firstNumber))
    isFetcher = true
    fileMode = root.mode & 0o666
    temporary = try StoreTemporaryFolder(temporaryName, ofAnotherIn: root)
    setsFileMode = false
  }

  /// Calls `notify` when a prune in the background fails, at most once a minute.
  package func onPruneFailure(_ notify: @escaping @Sendable (String) -> Void) {
    pruneFailed.withLock { $0 = notify }
  }

  /// Removes unfinished files at the end of a run. No file can be begun afterwards. If a process is
  /// killed, the next one removes its unfinished files.
  public func shutdown() {
    temporary.remove()
  }

  /// Creates an empty file. The caller appends bytes to it and then finishes or discards it.
  ///
  /// - Throws: ``StoreError`` when the file cannot be created.
  public func beginFile() throws(StoreError) -> PartialFile {
    try PartialFile(in: self, name: "\(ledger.withLock { $0.nextNumber() })")
  }

  /// Stores a complete file from memory with a single write. Writes nothing if the store already
  /// has the same content.
  ///
  /// - Parameters:
  ///   - bytes: the content of the file.
  ///   - type: the type of the content.
  /// - Returns: the stored file, pinned once. Unpin it after writing the line that it was fetched
  ///   for.
  /// - Throws: ``StoreError`` when the file cannot be created or written.
  public func add(_ bytes: UnsafeRawBufferPointer, type: MediaType) throws(StoreError) -> StoredFile {
    var hash = SHA256()
    unsafe hash.update(bytes)
    let name = StoreName(digest: hash.finish(), type: type)
    if pinIfThere(name, size: bytes.count) { return StoredFile(name, size: bytes.count) }
    let file = try beginFile()
    try unsafe file.write(bytes)
    return try file.finish(as: name)
  }

  /// Prevents this process from evicting a file until it has been unpinned as often as it was
  /// pinned.
  public func pin(_ file: StoredFile) {
    ledger.withLock { $0.pin(file.name) }
  }

  /// Undoes one ``pin(_:)``, or the pin that ``PartialFile/finish(type:)`` made.
  public func unpin(_ file: StoredFile) {
    ledger.withLock { $0.unpin(file.name) }
  }

  /// Sets the last use of a file to now, to the minute. Pin the file first: if this method finds a
  /// pinned file, the file stays.
  ///
  /// - Returns: false when the file is gone or incomplete.
  public func touch(_ file: StoredFile) -> Bool {
    names.withLock { _ in isThere(file.name, size: file.size) }
  }

  /// Pins a file if the store has it, and sets its last use to now.
  ///
  /// - Returns: false when the file is missing or incomplete.
  func pinIfThere(_ name: StoreName, size: Int) -> Bool {
    names.withLock { _ in
      guard isThere(name, size: size) else { return false }
      ledger.withLock { $0.pin(name) }
      return true
    }
  }

  /// Opens a file for reading. Pin it first.
  ///
  /// - Returns: a descriptor, which belongs to the caller.
  func open(_ file: StoredFile) throws(StoreError) -> Int32 {
    try root.folder(file.name.folder).openFile(file.name.fileName)
  }

  private func isThere(_ name: StoreName, size: Int) -> Bool {
    guard let subfolder = try? root.folder(name.folder) else { return false }
    return subfolder.touch(name.fileName, size: Int64(size), now: clock())
  }

  /// Renames a temporary file to its final name and pins it.
  func place(_ temporaryName: String, as name: StoreName, size: Int) throws(StoreError) {
    try names.withLock { _ throws(StoreError) in
      try root.folderMade(name.folder).adopt(temporaryName, from: temporary.folder, as: name.fileName)
      ledger.withLock { ledger in
        ledger.pin(name)
        ledger.add(bytes: Int64(size))
        ledger.syncs.forget(name)
      }
    }
  }

  /// Removes a file, unless it has been pinned, held or used since it was listed.
  ///
  /// - Returns: whether the file is gone.
  func evict(_ entry: StoreEviction.Entry) -> Bool {
    names.withLock { _ in
      guard !ledger.withLock({ $0.isPinned(entry.name) }), let subfolder = try? root.folder(entry.name.folder) else { return false }
      guard let status = subfolder.status(of: entry.name.fileName) else { return true }
      guard status.lastUse == entry.lastUse && !status.isHeld else { return false }
      return remove(entry, from: subfolder)
    }
  }

  /// Removes a file, unless another process holds or uses it at the same time. The file is first
  /// renamed to a temporary name, where no process can find it, and then checked again.
  ///
  /// - Returns: whether the file is gone.
  func remove(_ entry: StoreEviction.Entry, from subfolder: StoreFolder) -> Bool {
    let name = entry.name
    let aside = ledger.withLock { ledger in
      ledger.syncs.forget(name)
      return "\(ledger.nextNumber())"
    }
    guard unsafe renameat(subfolder.descriptor, name.fileName, temporary.folder.descriptor, aside) == 0 else { return false }
    if let status = temporary.folder.status(of: aside), status.isHeld || status.lastUse != entry.lastUse || mayBeInUse(entry) {
      unsafe linkat(temporary.folder.descriptor, aside, subfolder.descriptor, name.fileName, 0)
      temporary.folder.removeFile(aside)
      return false
    }
    return temporary.folder.removeFile(aside)
  }

  /// Whether another process may have used a file without a change of its time.
  private func mayBeInUse(_ entry: StoreEviction.Entry) -> Bool {
    clock() - entry.lastUse <= StoreEviction.precision * 2 && (try? temporary.sweep()) != 0
  }

  private static func wallClock() -> Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}

/// Accounts for files that fetcher processes add to a store that this host has open.
extension AttachmentStore {
  /// Takes ownership of a file that a fetcher has stored, and pins it once.
  ///
  /// - Parameter prunes: the number of prunes that had begun when the request was sent. If a later
  ///   prune may have removed the file, this method checks that the file still exists.
  /// - Returns: false when the file is gone.
  func takeOver(_ file: StoredFile, sincePrune prunes: UInt64) -> Bool {
    ledger.withLock { ledger in
      ledger.pin(file.name)
      ledger.syncs.forget(file.name)
    }
    let isPruned = isPruning.load(ordering: .sequentiallyConsistent) || self.prunes.load(ordering: .sequentiallyConsistent) != prunes
    guard !isPruned || touch(file) else {
      unpin(file)
      return false
    }
    return true
  }

  /// Adds the bytes that fetchers have stored to the count, and starts a prune when one is due.
  func note(addedByFetchers bytes: Int64) {
    if bytes > 0 { ledger.withLock { $0.add(bytesOfFetchers: bytes) } }
    pruneInBackground()
  }
}
