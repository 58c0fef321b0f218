/// The index of earlier versions, `index.sqlite` beside the attachments.
///
/// Processes of an earlier version may use a store together with processes of this version. Each
/// version has its own index, so neither opens or moves a file of the other. This is safe because
/// an index is only a cache: a row names a file by its hash, and each use checks that the file
/// exists.
extension AttachmentStore {
  private static let earlierCompanions = StoreIndex.companions + [StoreIndex.damagedName]

  /// Removes the index of an earlier version, unless a process has it open. Leaves alone what is
  /// not a database.
  func removeEarlierIndex() {
    guard let file = root.status(of: StoreIndex.fileName), file.isRegular,
      let connection = try? IndexConnection(realPath + "/" + StoreIndex.fileName, patience: 0),
      (try? connection.lockAlone()) == true,
      // The store's path may lead to another folder by now.
      file.isSameFile(as: (try? StoreFolder(at: realPath))?.status(of: StoreIndex.fileName))
    else { return }
    // The lock stays until the connection is closed. The companion files are removed first: while
    // the name is taken, no process can begin a new index that they could belong to.
    for companion in Self.earlierCompanions { root.removeFile(companion) }
    root.removeFile(StoreIndex.fileName)
    withExtendedLifetime(connection) {}
  }
}

extension IndexConnection {
  /// Locks the file until this connection is closed, and ends its write-ahead log. A process that
  /// opens the file at this moment then has no log, and SQLite refuses its writes once the file has
  /// lost its name.
  ///
  /// - Returns: false when another connection is open.
  fileprivate func lockAlone() throws(IndexFailure) -> Bool {
    // With this mode SQLite takes the exclusive lock at the first access, and keeps it.
    try run("PRAGMA locking_mode=EXCLUSIVE")
    var mode: [UInt8] = []
    try prepare("PRAGMA journal_mode=MEMORY").run { mode = $0.bytes(0) }
    return mode == Array("memory".utf8)
  }
}
