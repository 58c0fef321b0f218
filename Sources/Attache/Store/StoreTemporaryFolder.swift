internal import Glibc

/// The folder of one process's unfinished files: `tmp/<process>-<random>` in the store, locked for
/// the lifetime of the process.
///
/// The lock (`flock`) ends with the process, however it ends. Only those who may write the store can
/// open the folder `tmp`, so nobody else can hold a lock in it, or its own, which a prune takes. So the next start can find and remove
/// leftover files, and never touches the files of a running process. The lock works between the
/// processes of one machine.
final class StoreTemporaryFolder: Sendable {
  let folder: StoreFolder
  private let parent: StoreFolder
  let name: String
  private let isOwn: Bool

  /// Creates and locks the folder.
  init(in store: StoreFolder) throws(StoreError) {
    isOwn = true
    parent = try store.writersFolderMade(Self.parentName)
    // A sweep by another process may remove the folder before it is locked. Each process that
    // starts or prunes at that moment does so at most once.
    for _ in 0..<100 {
      let name = "\(getpid())-\(UInt64.random(in: .min ... .max))"
      if let folder = try Self.lockedFolder(name, in: parent) {
        self.folder = folder
        self.name = name
        return
      }
    }
    throw StoreError("lock a folder in", parent.path, code: EWOULDBLOCK)
  }

  /// Opens the folder of another process, which keeps ownership.
  init(_ name: String, ofAnotherIn store: StoreFolder) throws(StoreError) {
    (self.name, isOwn) = (name, false)
    parent = try store.folder(Self.parentName)
    folder = try parent.folder(name)
  }

  /// Opens the folder of all processes' unfinished files for a prune, and creates nothing: the disk
  /// may be full. Files are set aside in it while the prune has its lock (``pruneLock(in:)``).
  init(ofPruneIn store: StoreFolder) throws(StoreError) {
    (name, isOwn) = ("", false)
    parent = try store.folder(Self.parentName)
    folder = parent
  }

  deinit {
    remove()
  }

  /// Removes the files whose numbers are in this range.
  func removeFiles(numbered range: Range<UInt64>) {
    for file in (try? folder.names()) ?? [] where UInt64(file).map(range.contains) ?? false {
      folder.removeFile(file)
    }
  }

  /// Removes the folder and its files. Does nothing for the folder of another process.
  func remove() {
    guard isOwn else { return }
    for file in (try? folder.names()) ?? [] where Self.isFileName(file) {
      folder.removeFile(file)
    }
    parent.removeFolder(name)
  }

  private static func lockedFolder(_ name: String, in parent: StoreFolder) throws(StoreError) -> StoreFolder? {
    do {
      guard try parent.makeFolder(name) else { return nil }
      let folder = try parent.folder(name)
      return try isOwned(folder, name, in: parent) ? folder : nil
    } catch let error where error.call.code == ENOENT {
      return nil
    }
  }

  /// Takes the lock of a folder, and checks that the folder still has that name: the previous
  /// holder of the lock may have removed it.
  private static func isOwned(_ folder: StoreFolder, _ name: String, in parent: StoreFolder) throws(StoreError) -> Bool {
    guard try folder.tryLock(), let status = folder.status else { return false }
    return status.isSameFile(as: parent.status(of: name))
  }

  /// Removes what prunes that were killed have set aside. The caller has the lock of prunes.
  func sweepAside() throws(StoreError) {
    for file in try parent.names() where Self.isFileName(file) { parent.removeFile(file) }
  }

  /// Removes the files of dead processes, and returns how many other live processes use this store.
  @discardableResult
  func sweep() throws(StoreError) -> Int {
    var living = 0
    for other in try parent.names() where other != name && Self.isProcessName(other) {
      // A folder that cannot be opened or locked belongs to another user or is gone.
      guard let folder = try? parent.folder(other), let isDead = try? Self.isOwned(folder, other, in: parent) else { continue }
      if isDead {
        for file in try folder.names() where Self.isFileName(file) {
          folder.removeFile(file)
        }
        parent.removeFolder(other)
      } else {
        living += 1
      }
    }
    return living
  }

  /// Takes the lock that allows one process at a time to prune. Returns nil when another process
  /// holds it. Releasing the folder releases the lock.
  func pruneLock(in store: StoreFolder) throws(StoreError) -> StoreFolder? {
    let folder = try store.folder(Self.parentName)
    return try folder.tryLock() ? folder : nil
  }

  static let parentName = "tmp"

  private static func isProcessName(_ name: String) -> Bool {
    let parts = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { isFileName(String(Substring($0))) }
  }

  private static func isFileName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}
