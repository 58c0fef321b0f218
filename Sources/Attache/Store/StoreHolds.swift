internal import Glibc

/// The folder of a queue's hard links, `.held/<name>` in the store. Its file `queue` contains the
/// path of the queue.
///
/// A prune removes the links of a queue whose path is missing (``missingTimeLimit``).
///
/// Processes that add links share the folder's lock (`flock`); a process that removes links takes
/// it exclusively. The kernel lets new sharers pass a process that waits for the exclusive lock. So
/// both first take the lock of the file `queue` (``StoreHolds/turn(in:at:exclusively:)``), which makes
/// later ones wait. Only those who may write the store can open `.held`, so nobody else can hold
/// these locks.
struct StoreHolds {
  let folder: StoreFolder
  /// The first 32 hexadecimal digits of the SHA-256 of the queue's kind, absolute path, device and
  /// inode, because two containers may each have a queue at the same path. A queue that is restored
  /// or moved uses a new folder from then on. The links that it lists in the old folder keep their
  /// paths.
  let name: String

  static let parentName = ".held"
  static let queueFile = "queue"
  /// A marker that a prune creates when it finds no queue at its path. Its time is when the queue
  /// was first missing.
  static let missingFile = "missing"
  /// How long a queue's path may be missing before its holds are removed. The queue may be visible
  /// only to another container, or to a unit with its own view of the file system.
  static let missingTimeLimit = Duration.seconds(7 * 86_400)
  /// The maximum number of links that one prune removes, to limit its time.
  private static let portion = 10_000

  /// Opens the folder of a queue with a shared lock, and creates it if it does not exist.
  ///
  /// - Parameter waitsInTurn: whether to let a process that waits for the exclusive lock go first.
  ///   Must be false for a caller that already holds the lock.
  init(of owner: HoldOwner, in store: AttachmentStore, waitsInTurn: Bool = false) throws(StoreError) {
    name = Self.name(of: owner)
    let parent = try store.root.writersFolderMade(Self.parentName)
    // A prune may remove the folder that another queue of this path left.
    for _ in 0..<100 {
      let folder = try parent.folderMade(name)
      let turn = waitsInTurn ? try Self.turn(in: folder.descriptor, at: folder.path, exclusively: false) : nil
      try withExtendedLifetime(turn) { () throws(StoreError) in try folder.lock(exclusively: false) }
      if let status = folder.status, status.isSameFile(as: parent.status(of: name)) {
        if folder.status(of: Self.queueFile) == nil { try store.create(Self.queueFile, of: Array(owner.absolutePath.utf8), in: folder) }
        folder.removeFile(Self.missingFile)
        self.folder = folder
        return
      }
    }
    throw StoreError("lock", parent.path(of: name), code: EBUSY)
  }

  /// Returns the absolute path of a queue's folder, whether or not it exists.
  static func path(of owner: HoldOwner, in store: AttachmentStore) -> String {
    "\(store.realPath)/\(parentName)/\(name(of: owner))"
  }

  /// Returns the name of a queue's folder. If the queue does not exist, two queues may share the name.
  static func name(of owner: HoldOwner) -> String {
    ownName(of: owner) ?? digest("\(owner.kind):\(owner.absolutePath)")
  }

  /// Returns the name of the folder that belongs to one queue alone, or nil when there is none
  /// (``name(of:)``).
  static func ownName(of owner: HoldOwner) -> String? {
    let path = owner.absolutePath
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return digest("\(owner.kind):\(path)\0\(status.st_dev):\(status.st_ino)")
  }

  private static func digest(_ text: String) -> String {
    SHA256.hash(Array(text.utf8)).hexadecimal(16)
  }

  /// Waits for the turn to wait for a folder's lock.
  ///
  /// - Returns: an object that keeps the turn until it is released. Nil when the folder has no file
  ///   `queue`; then there are no turns.
  /// - Throws: ``StoreError`` when another process holds the lock for too long.
  static func turn(in folder: Int32, at path: String, exclusively: Bool) throws(StoreError) -> HoldsTurn? {
    let file = unsafe openat(folder, queueFile, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    let turn = HoldsTurn(file: file)
    try FileLock.acquire(file, exclusively: exclusively, path: "\(path)/\(queueFile)")
    return turn
  }

  /// Removes the holds of queues that are gone. What cannot be removed stays until the next prune.
  ///
  /// - Parameter now: the wall clock, since 1970.
  static func sweep(_ root: StoreFolder, now: Duration) {
    guard let parent = try? root.folder(parentName), let names = try? parent.names() else { return }
    var budget = portion
    for name in names where name.utf8.count == 32 && budget > 0 {
      guard let folder = try? parent.folder(name), (try? folder.tryLock()) == true else { continue }
      guard let path = folder.text(of: queueFile) else {
        parent.removeFolder(name)
        continue
      }
      guard isOver(path, in: folder, now: now), let files = try? folder.names() else { continue }
      for file in files where StoreName(folder: String(file.prefix(2)), fileName: file) != nil && budget > 0 {
        budget -= 1
        folder.removeFile(file)
      }
      guard let rest = try? folder.names(), rest.allSatisfy([queueFile, missingFile].contains) else { continue }
      for file in rest { folder.removeFile(file) }
      parent.removeFolder(name)
    }
  }

  /// Whether the path of a queue has been missing for ``missingTimeLimit``. Notes when it was first missing.
  private static func isOver(_ path: String, in folder: StoreFolder, now: Duration) -> Bool {
    guard isGone(path) else {
      folder.removeFile(missingFile)
      return false
    }
    return folder.missingSince(now: now).map { now - $0 >= missingTimeLimit } ?? false
  }

  private static func isGone(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
  }
}

extension StoreFolder {
  /// Waits for this folder's lock, and keeps it for the lifetime of this object.
  func lock(exclusively: Bool) throws(StoreError) {
    try FileLock.acquire(descriptor, exclusively: exclusively, path: path)
  }

  /// Returns since when a queue is missing, by the time of the marker. The first call creates the
  /// marker. Nil when it cannot be created.
  fileprivate func missingSince(now: Duration) -> Duration? {
    if let since = status(of: StoreHolds.missingFile)?.lastUse, since <= now { return since }
    // There is no marker, or its time is in the future because the wall clock was set back.
    let file = unsafe openat(descriptor, StoreHolds.missingFile, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode & 0o666)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let (seconds, attoseconds) = now.components
    let time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    return unsafe futimens(file, [time, time]) == 0 ? now : nil
  }

  /// Returns the text of a small file, at most a path; nil when it cannot be read.
  fileprivate func text(of name: String) -> String? {
    let file = unsafe openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 2 * Int(PATH_MAX))
    let count = unsafe read(file, &bytes, bytes.count)
    return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
  }
}

/// A turn to wait for the lock of a folder of holds. It ends when this object is released.
package final class HoldsTurn: Sendable {
  private let file: Int32

  fileprivate init(file: Int32) { self.file = file }

  deinit { close(file) }

  /// Waits for the turn to lock a folder exclusively.
  ///
  /// - Parameters:
  ///   - folder: the descriptor of the folder.
  ///   - path: its path, for messages.
  /// - Throws: ``StoreError`` when another process holds the lock for too long.
  package static func alone(in folder: Int32, at path: String) throws(StoreError) -> HoldsTurn? {
    try StoreHolds.turn(in: folder, at: path, exclusively: true)
  }
}

extension FileLock {
  /// Waits until the lock is acquired.
  ///
  /// - Throws: ``StoreError``
  package static func acquire(_ descriptor: Int32, exclusively: Bool, path: String) throws(StoreError) {
    do {
      try wait(descriptor, exclusively: exclusively, path: path)
    } catch {
      switch error {
      case .system(let error): throw StoreError("lock", path, code: error.number)
      case .held(let sentence): throw .locked(StoreError.FailedCall(action: "lock", path: path, code: EWOULDBLOCK), sentence)
      }
    }
  }
}
