internal import Glibc

extension QueueLocation {
  /// Removes a database's files. A folder stays: there may be other files in it.
  ///
  /// Nobody may use the queue any more.
  package func remove() {
    guard case .sqlite(let path) = self else { return }
    for suffix in ["-journal", "-wal", "-shm", "-workers", ""] { unsafe unlink(path + suffix) }
  }
}
