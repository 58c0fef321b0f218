internal import Glibc

/// The log of a queue's database (`PATH-wal`), which is synced beside SQLite.
///
/// It stays open. Linux tells an error of writing once to each descriptor that was open when the
/// error came: SQLite's own descriptor may be told in an automatic checkpoint, which goes on
/// without a word.
final class QueueLog: Sendable {
  private let path: String
  private let descriptor: Int32
  private let fdatasync: @Sendable (Int32) -> Int32

  /// - Parameters:
  ///   - queue: the path of the database, which is open.
  ///   - fdatasync: the system's.
  init(of queue: String, fdatasync: @escaping @Sendable (Int32) -> Int32) throws(QueueError) {
    path = queue + "-wal"
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    self.fdatasync = fdatasync
    guard descriptor >= 0 else { throw SystemFailure(errno, at: path).error }
  }

  deinit {
    close(descriptor)
  }

  /// Waits until the log is on the disk: what it holds is found again whatever becomes of the
  /// machine.
  ///
  /// SQLite has synced what is not in the log any more before it began the log anew, and nobody
  /// removes the log while the database is open.
  func sync() throws(QueueError) {
    guard isThere else { throw .unavailable("\(path.dropLast(4)): the queue was removed or moved while it was in use") }
    guard fdatasync(descriptor) == 0 else { throw SystemFailure(errno, at: path).error }
  }

  private var isThere: Bool {
    var (opened, named) = (stat(), stat())
    guard unsafe fstat(descriptor, &opened) == 0, unsafe stat(path, &named) == 0 else { return false }
    return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino
  }
}
