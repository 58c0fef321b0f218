internal import Glibc

extension QueueLocation {
  /// The database, and the files that SQLite and the workers have beside it.
  package var databaseFiles: [String] {
    let database =
      switch self {
      case .sqlite(let path): path
      case .folder(let path): "\(path)/\(FolderLayout.databaseName)"
      }
    return ["-journal", "-wal", "-shm", "-workers", ""].map { database + $0 }
  }

  /// Removes a database's files. A folder stays: there may be other files in it.
  ///
  /// Nobody may use the queue any more.
  package func remove() {
    guard case .sqlite = self else { return }
    for file in databaseFiles { unsafe unlink(file) }
  }
}
