internal import Glibc

extension QueueLocation {
  /// Removes a database's files. A folder of files stays: there may be others' in it.
  ///
  /// Nobody may use the queue any more.
  package func remove() {
    guard case .sqlite(let path) = self else { return }
    for suffix in ["-wal", "-shm", "-workers", ""] { unsafe unlink(path + suffix) }
  }
}
