internal import Glibc

/// A queue in a database file, `sqlite:PATH` (``SQLiteQueue``).
struct SQLiteAddress: QueueAddress {
  static let schemes = ["sqlite"]
  static let form = "sqlite:PATH"

  let file: String

  init(file: String) {
    self.file = file
  }

  init(parsing text: String) throws(QueueAddressError) {
    file = try QueueLocation.path(in: text)
  }

  var description: String { "sqlite:\(file)" }
  var path: String? { file }

  /// The database, and the files that SQLite and the workers create beside it.
  var files: [String] { ["-journal", "-wal", "-shm", "-workers", ""].map { file + $0 } }

  func open(_ opening: QueueOpening) throws(QueueError) -> any PayloadQueue {
    try SQLiteQueue(path: file, creates: opening.creates, sync: opening.sync, clock: opening.clock)
  }

  func remove() {
    for file in files { unsafe unlink(file) }
  }
}
