internal import Glibc

/// The folder of a queue's hard links, `.held/<name>` in the store, with a file `queue` that says
/// where the queue is.
///
/// Its lock (`flock`) is shared by those that add links, and is taken alone to remove them. The
/// kernel lets sharers pass one that waits to be alone: so both take the lock of the file `queue`
/// first (``StoreHolds/turn(in:exclusively:)``), and one that waits keeps others from passing.
struct StoreHolds {
  let folder: StoreFolder
  /// The first 32 hexadecimal digits of the SHA-256 of the queue's kind, absolute path, device and
  /// inode: each of two containers may have a queue at one path. A queue that is restored, or
  /// moved, has another folder from then on; the links that it lists in the old one keep their
  /// paths.
  let name: String

  static let parentName = ".held"
  static let queueFile = "queue"
  /// Made when a prune finds no queue at its path: its time says since when.
  static let missingFile = "missing"
  /// How long a queue's path may be missing before its holds are removed: another container, or a
  /// unit with a view of its own, may see it.
  static let patience = Duration.seconds(7 * 86_400)
  /// Links that one prune removes at most, so that its time is bounded.
  private static let portion = 10_000

  /// Opens the folder of a queue with its lock shared, and makes it first if it is not there.
  ///
  /// - Parameter waitsInTurn: whether one that waits for the lock alone goes first. Not for a
  ///   caller that has the lock already.
  init(of queue: String, in store: AttachmentStore, waitsInTurn: Bool = false) throws(StoreError) {
    let path = Self.parts(of: queue).path
    name = Self.name(of: queue)
    let parent = try store.root.folderMade(Self.parentName)
    // A prune may take a folder away that was left by an earlier queue of this path.
    for _ in 0..<100 {
      let folder = try parent.folderMade(name)
      let turn = waitsInTurn ? Self.turn(in: folder.descriptor, exclusively: false) : nil
      try withExtendedLifetime(turn) { () throws(StoreError) in try folder.lock(exclusively: false) }
      if let status = folder.status, status.isSameFile(as: parent.status(of: name)) {
        if folder.status(of: Self.queueFile) == nil { try store.create(Self.queueFile, of: Array(path.utf8), in: folder) }
        folder.removeFile(Self.missingFile)
        self.folder = folder
        return
      }
    }
    throw StoreError("lock", parent.path(of: name), code: EBUSY)
  }

  /// The absolute path of a queue's folder, whether or not it is there.
  static func path(of queue: String, in store: AttachmentStore) -> String {
    "\(store.realPath)/\(parentName)/\(name(of: queue))"
  }

  /// The name of a queue's folder; of one that is not there, a name that two queues may share.
  private static func name(of queue: String) -> String {
    let (kind, path) = parts(of: queue)
    return ownName(of: queue) ?? digest("\(kind):\(path)")
  }

  /// The name of the folder that is one queue's alone; nil when the queue is not there.
  static func ownName(of queue: String) -> String? {
    let (kind, path) = parts(of: queue)
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return digest("\(kind):\(path)\0\(status.st_dev):\(status.st_ino)")
  }

  private static func digest(_ text: String) -> String {
    SHA256.hash(Array(text.utf8)).hexadecimal(16)
  }

  /// Waits for its turn to wait for a folder's lock.
  ///
  /// - Returns: what has the turn for as long as it lives; nil where the folder has no file for it,
  ///   and nobody takes turns.
  static func turn(in folder: Int32, exclusively: Bool) -> HoldsTurn? {
    let file = unsafe openat(folder, queueFile, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    try? FileLock.wait(file, exclusively: exclusively)
    return HoldsTurn(file: file)
  }

  /// The kind and the path of a queue; the path is absolute, so that it means the same to each
  /// process.
  private static func parts(of queue: String) -> (kind: Substring, path: String) {
    let parts = queue.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false).map(Substring.init)
    let (kind, path) = parts.count == 2 ? (parts[0], String(parts[1])) : ("", queue)
    if let real = unsafe realpath(path, nil) {
      defer { unsafe free(real) }
      return unsafe (kind, String(cString: real))
    }
    guard path.utf8.first != UInt8(ascii: "/"), let folder = unsafe getcwd(nil, 0) else { return (kind, path) }
    defer { unsafe free(folder) }
    return unsafe (kind, String(cString: folder) + "/" + path)
  }

  /// Removes the holds of queues that have been gone for ``patience``; what cannot be removed stays
  /// until another time.
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
      guard isGone(path) else {
        folder.removeFile(missingFile)
        continue
      }
      guard let since = folder.missingSince(now: now), now - since >= patience, let files = try? folder.names() else { continue }
      for file in files where StoreName(folder: String(file.prefix(2)), fileName: file) != nil && budget > 0 {
        budget -= 1
        folder.removeFile(file)
      }
      guard let rest = try? folder.names(), rest.allSatisfy({ $0 == queueFile || $0 == missingFile }) else { continue }
      for file in rest { folder.removeFile(file) }
      parent.removeFolder(name)
    }
  }

  private static func isGone(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
  }
}

extension StoreFolder {
  /// Waits for this folder's lock, and has it for as long as this object lives.
  func lock(exclusively: Bool) throws(StoreError) {
    do { try FileLock.wait(descriptor, exclusively: exclusively) } catch { throw StoreError("lock", path, code: error.number) }
  }

  /// Since when a queue is missing, by the marker's time; the first call makes the marker. Nil
  /// where it cannot be made.
  fileprivate func missingSince(now: Duration) -> Duration? {
    if let since = status(of: StoreHolds.missingFile)?.lastUse, since <= now { return since }
    // None yet, or one of a wall clock that was set back since.
    let file = unsafe openat(descriptor, StoreHolds.missingFile, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode & 0o666)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let (seconds, attoseconds) = now.components
    let time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    return unsafe futimens(file, [time, time]) == 0 ? now : nil
  }

  /// The text of a small file, a path at most; nil when there is none.
  fileprivate func text(of name: String) -> String? {
    let file = unsafe openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 2 * Int(PATH_MAX))
    let count = unsafe read(file, &bytes, bytes.count)
    return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
  }
}

/// A turn to wait for the lock of a folder of holds; it ends with this object.
package final class HoldsTurn: Sendable {
  private let file: Int32

  fileprivate init(file: Int32) { self.file = file }

  deinit { close(file) }

  /// Waits for the turn to have a folder alone.
  ///
  /// - Parameter folder: its descriptor.
  package static func alone(in folder: Int32) -> HoldsTurn? {
    StoreHolds.turn(in: folder, exclusively: true)
  }
}
