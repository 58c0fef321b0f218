/// A queue in a folder, `dir:PATH` (``FolderQueue``).
struct FolderAddress: QueueAddress {
  static let schemes = ["dir"]
  static let form = "dir:PATH"

  let folder: String

  init(folder: String) {
    self.folder = folder
  }

  init(parsing text: String) throws(QueueAddressError) {
    folder = try QueueLocation.path(in: text)
  }

  var description: String { "dir:\(folder)" }
  var path: String? { folder }
  var files: [String] { SQLiteAddress(file: "\(folder)/\(FolderLayout.databaseName)").files }

  func open(_ opening: QueueOpening) throws(QueueError) -> any PayloadQueue {
    try FolderQueue(path: folder, creates: opening.creates, sync: opening.sync, clock: opening.clock, notice: opening.notice)
  }

  /// Does nothing, because the folder may contain other files.
  func remove() {}
}
