internal import Glibc

/// The log of a queue's database (`PATH-wal`), which can be synced independently of SQLite.
///
/// The descriptor stays open. Linux reports a write error once to each descriptor that was open
/// when the error occurred. SQLite's own descriptor may receive it in an automatic checkpoint,
/// which ignores the error.
final class QueueLog: Sendable {
  private let path: String
  private let descriptor: Int32
  /// The number of the database's file.
  private let databaseNumber: ino_t?
  private let fdatasync: @Sendable (Int32) -> Int32

  /// - Parameters:
  ///   - queue: the path of the open database.
  ///   - fdatasync: the system call; tests replace it.
  init(of queue: String, fdatasync: @escaping @Sendable (Int32) -> Int32) throws(QueueError) {
    path = queue + "-wal"
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    databaseNumber = Self.number(of: queue[...])
    self.fdatasync = fdatasync
    guard descriptor >= 0 else { throw SystemFailure(errno, at: path).error }
  }

  deinit {
    close(descriptor)
  }

  /// Waits until the log is on disk, so that its content survives a power failure.
  ///
  /// Before SQLite restarts the log, it syncs the data that leaves the log. No process removes the
  /// log while the database is open.
  func sync() throws(QueueError) {
    try checkPresence()
    guard fdatasync(descriptor) == 0 else { throw SystemFailure(errno, at: path).error }
  }

  /// - Throws: ``QueueError/unavailable(_:)`` when the queue was removed or moved. SQLite would
  ///   continue with the deleted file.
  func checkPresence() throws(QueueError) {
    guard isThere else { throw .unavailable("\(path.dropLast(4)): the queue was removed or moved while it was in use") }
  }

  private var isThere: Bool {
    var (opened, named) = (stat(), stat())
    guard unsafe fstat(descriptor, &opened) == 0, unsafe stat(path, &named) == 0 else { return false }
    return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino && Self.number(of: path.dropLast(4)) == databaseNumber
  }

  /// The number of a file on its file system; nil if there is none.
  private static func number(of path: Substring) -> ino_t? {
    var status = stat()
    return unsafe stat(String(path), &status) == 0 ? status.st_ino : nil
  }
}
