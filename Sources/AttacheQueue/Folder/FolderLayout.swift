internal import Attache
internal import Glibc

/// The files and folders of a queue in a folder. Opens such a folder and creates it.
enum FolderLayout {
  static let databaseName = "queue.sqlite"
  static let database = FileName(databaseName)
  private static let lock: FileName = "lock"
  private static let folders = ["new", "done", "dead", Inbox.intake, Outbox.outgoing]
  /// Files that may exist beside the folders: files that a killed process left while it created a
  /// queue, and files that are created later.
  private static let others = ["lock", "refused", "queue.sqlite-wal", "queue.sqlite-shm", "queue.sqlite-workers", "queue.sqlite-journal"]

  /// Opens the folder of a queue, or creates the queue in it.
  static func open(_ path: String, creates: Bool) throws(QueueError) -> (QueueFolder, FolderLock) {
    if creates, unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw SystemFailure(errno, at: path).error }
    if !creates, unsafe access(path, F_OK) != 0, errno == ENOENT {
      throw .unavailable("\(path): there is no such queue; `attache enqueue` creates one")
    }
    let folder = try QueueFolder(at: path)
    if !folder.has(database) { try check(folder, creates: creates) }
    let lock = try FolderLock(folder, lock)
    try lock.exclusively { () throws(QueueError) in
      for name in folders where !folder.has(FileName(name)) { try folder.makeFolder(FileName(name)) }
    }
    return (folder, lock)
  }

  private static func check(_ folder: QueueFolder, creates: Bool) throws(QueueError) {
    guard creates else { throw .unavailable("\(folder.path): is not a queue; `attache enqueue` creates one") }
    let own = Set((folders + others).map(FileName.init(_:)) + [database])
    let foreign = try folder.names(in: ".").filter { !own.contains($0) }.min(by: <)
    // Another process may have created the queue in the meantime.
    guard let foreign, !folder.has(database) else { return }
    throw .unavailable(
      "\(folder.path): contains other files (\(String(decoding: foreign.bytes, as: UTF8.self))); a queue needs its own folder")
  }
}

/// The lock of a queue's folder. It is required for changes of the inbox and the outbox.
final class FolderLock: Sendable {
  private let file: Int32
  private let path: String

  init(_ folder: QueueFolder, _ name: FileName) throws(QueueError) {
    path = folder.path(of: name)
    file = try folder.fileMode.open(path)
  }

  deinit {
    close(file)
  }

  /// Runs `body` while no other handle holds the lock.
  func exclusively<Value>(_ body: () throws(QueueError) -> Value) throws(QueueError) -> Value {
    do throws(FileLock.Failure) {
      try FileLock.wait(file, exclusively: true, path: path)
    } catch {
      throw SystemFailure.error(error, at: path)
    }
    defer { flock(file, LOCK_UN) }
    return try body()
  }
}
