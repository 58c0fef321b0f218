internal import Glibc
internal import Synchronization

/// The folder of attachments. Files are named after their content (`3f/3fa9….png`), appear whole
/// or not at all, and go again when they have not been used for long or the folder grows too large.
///
/// Processes of one machine may share a store.
public final class AttachmentStore: Sendable {
  /// The URL of the folder, with a slash at its end: a file's URL is this and its
  /// ``StoredFile/relativePath``.
  public let baseURL: String

  let root: StoreFolder
  let temporary: StoreTemporaryFolder
  /// The mode of a file: the folder's, without the right to execute.
  let fileMode: mode_t
  /// Whether a file does not come into being with ``fileMode``, and has to be given it.
  let setsFileMode: Bool
  let limits: StoreEviction.Limits
  let clock: @Sendable () -> Duration
  let ledger: Mutex<StoreBookkeeping>
  let isPruning = Atomic<Bool>(false)
  /// Counts the prunes that have begun.
  let prunes = Atomic<UInt64>(0)
  /// Whether another process owns the store, which prunes it.
  let isGuest: Bool
  /// Held where a file appears under its name, is looked up or goes away, so that what was found
  /// stays; always taken before ``ledger``.
  private let names = Mutex(())

  /// Opens the store, creates it if it is not there, and proves that it can be written.
  ///
  /// - Parameters:
  ///   - directory: the folder. One that is created, with the folders above it, has mode 0700 and
  ///     its files 0600; one that exists keeps
  ///     its mode and files follow it: 0750 gives 0640. The umask has no say.
  ///   - maximumBytes: what all files together may have before the least recently used go.
  ///   - maximumAge: how long a file may go unused before it goes.
  /// - Throws: what stands in the way; its description says what the user can do about it.
  public convenience init(directory: String, maximumBytes: Int64, maximumAge: Duration) throws(StoreError) {
    try self.init(directory: directory, maximumBytes: maximumBytes, maximumAge: maximumAge, clock: Self.wallClock)
  }

  /// Opens the store with a clock of the caller's.
  ///
  /// - Parameter clock: the wall clock, since 1970, to which the files' last use is compared.
  package init(
    directory: String, maximumBytes: Int64, maximumAge: Duration, clock: @escaping @Sendable () -> Duration
  ) throws(StoreError) {
    root = try Self.openRoot(directory)
    baseURL = try Self.fileURL(ofFolder: directory)
    limits = StoreEviction.Limits(maximumBytes: maximumBytes, maximumAge: maximumAge)
    self.clock = clock
    ledger = Mutex(StoreBookkeeping())
    isGuest = false
    fileMode = root.mode & 0o666
    temporary = try StoreTemporaryFolder(in: root)
    setsFileMode = try Self.probe(temporary.folder, root: root, mode: fileMode) != fileMode
    try temporary.sweep()
  }

  /// Opens a store that this process's host has open, for a fetcher.
  ///
  /// - Parameters:
  ///   - temporaryName: of the host's folder of unfinished files.
  ///   - firstNumber: of this process's unfinished files there; no other process has it, nor one of
  ///     the next 2^32.
  init(guestOf directory: String, limits: StoreEviction.Limits, temporaryName: String, firstNumber: UInt64) throws(StoreError) {
    root = try StoreFolder(at: directory)
    baseURL = try Self.fileURL(ofFolder: directory)
    (self.limits, clock) = (limits, Self.wallClock)
    ledger = Mutex(StoreBookkeeping(firstNumber: firstNumber))
    isGuest = true
    fileMode = root.mode & 0o666
    temporary = try StoreTemporaryFolder(temporaryName, ofAnotherIn: root)
    setsFileMode = true
  }

  /// Removes what is unfinished, at the end of a run; no file can be begun any more. What a killed
  /// process leaves, the next one removes.
  public func shutdown() {
    temporary.remove()
  }

  /// Begins a file: bytes are appended to it until it is finished or discarded.
  public func beginFile() throws(StoreError) -> PartialFile {
    try PartialFile(in: self, name: "\(ledger.withLock { $0.nextNumber() })")
  }

  /// Stores a whole file that is in memory, by one write; where the same content is there already,
  /// none.
  ///
  /// - Parameter type: what the bytes are.
  /// - Returns: the stored file, pinned once: unpin it when the line it was fetched for is written.
  public func add(_ bytes: UnsafeRawBufferPointer, type: MediaType) throws(StoreError) -> StoredFile {
    var hash = SHA256()
    unsafe hash.update(bytes)
    let name = StoreName(digest: hash.finish(), type: type)
    if pinIfThere(name, size: bytes.count) { return StoredFile(name, size: bytes.count) }
    let file = try beginFile()
    try unsafe file.write(bytes)
    return try file.finish(as: name)
  }

  /// Keeps this process from evicting a file, until it is unpinned as often as it was pinned.
  public func pin(_ file: StoredFile) {
    ledger.withLock { $0.pin(file.name) }
  }

  /// Takes back one ``pin(_:)``, or the one that ``PartialFile/finish(type:)`` made.
  public func unpin(_ file: StoredFile) {
    ledger.withLock { $0.unpin(file.name) }
  }

  /// Notes that a file is used again. Pin it first: a pinned file that this found stays.
  ///
  /// - Returns: false when the file is not there any more, or not whole.
  public func touch(_ file: StoredFile) -> Bool {
    names.withLock { _ in isThere(file.name, size: file.size) }
  }

  /// Pins a file that the store has; its use is noted.
  ///
  /// - Returns: false when it is not there, or not whole.
  func pinIfThere(_ name: StoreName, size: Int) -> Bool {
    names.withLock { _ in
      guard isThere(name, size: size) else { return false }
      ledger.withLock { $0.pin(name) }
      return true
    }
  }

  private func isThere(_ name: StoreName, size: Int) -> Bool {
    guard let shelf = try? root.folder(name.folder) else { return false }
    return shelf.touch(name.fileName, size: Int64(size))
  }

  /// Gives a temporary file its name and pins it.
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

  /// Removes a file that nobody has pinned, held or used since it was listed.
  ///
  /// - Returns: whether it is gone.
  func evict(_ entry: StoreEviction.Entry) -> Bool {
    names.withLock { _ in
      guard !ledger.withLock({ $0.isPinned(entry.name) }), let shelf = try? root.folder(entry.name.folder) else { return false }
      guard let status = shelf.status(of: entry.name.fileName) else { return true }
      guard status.lastUse == entry.lastUse && !status.isHeld else { return false }
      return remove(entry, from: shelf)
    }
  }

  /// Removes a file, unless another process holds it or uses it meanwhile: it gets a temporary name
  /// first, under which nobody can, and is looked at again.
  ///
  /// - Returns: whether it is gone.
  func remove(_ entry: StoreEviction.Entry, from shelf: StoreFolder) -> Bool {
    let name = entry.name
    let aside = ledger.withLock { ledger in
      ledger.syncs.forget(name)
      return "\(ledger.nextNumber())"
    }
    guard unsafe renameat(shelf.descriptor, name.fileName, temporary.folder.descriptor, aside) == 0 else { return false }
    if let status = temporary.folder.status(of: aside), status.isHeld || status.lastUse != entry.lastUse {
      unsafe linkat(temporary.folder.descriptor, aside, shelf.descriptor, name.fileName, 0)
      temporary.folder.removeFile(aside)
      return false
    }
    return temporary.folder.removeFile(aside)
  }

  private static func wallClock() -> Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
