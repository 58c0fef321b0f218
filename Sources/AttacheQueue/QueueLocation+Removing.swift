internal import Glibc

extension QueueLocation {
  /// The paths of the database and of the files that SQLite and the workers create beside it.
  package var databaseFiles: [String] {
    let database =
      switch self {
      case .sqlite(let path): path
      case .folder(let path): "\(path)/\(FolderLayout.databaseName)"
      }
    return ["-journal", "-wal", "-shm", "-workers", ""].map { database + $0 }
  }

  /// Removes the files of a `sqlite:` queue. Does nothing for a folder, because it may contain
  /// other files.
  ///
  /// No process may use the queue any more.
  package func remove() {
    switch self {
    case .sqlite: for file in databaseFiles { unsafe unlink(file) }
    case .folder: break
    }
  }
}
