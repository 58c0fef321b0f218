internal import Glibc
internal import Synchronization

/// Makes stored files survive a power failure.
extension AttachmentStore {
  /// Returns when the files, their names and their holds are on disk.
  ///
  /// A file that this process synced within the last five minutes is not synced again.
  ///
  /// - Throws: ``StoreError`` when a file or folder cannot be opened or synced.
  public func sync(_ files: [StoredFile]) throws(StoreError) {
    let now = clock()
    let names = Set(files.map(\.name))
    let (new, holds) = ledger.withLock { ledger in (names.filter { !ledger.syncs.isKnown($0, now: now) }, ledger.syncs.holds) }
    let subfolders = Dictionary(grouping: new, by: \.folder)
    for (folder, names) in subfolders {
      let subfolder = try root.folder(folder)
      for name in names { try subfolder.syncFile(name.fileName) }
      try subfolder.sync()
    }
    for (name, _) in holds {
      let parent = try root.folder(StoreHolds.parentName)
      // If the folder is gone, its holds are no longer needed.
      if let folder = try? parent.folder(name) {
        try folder.syncFile(StoreHolds.queueFile)
        try folder.sync()
      }
      try parent.sync()
    }
    // This syncs the names of the subfolders.
    if !subfolders.isEmpty || !holds.isEmpty { try root.sync() }
    ledger.withLock { $0.syncs.note(new, holds: holds, now: now) }
  }
}

extension StoreFolder {
  fileprivate func syncFile(_ name: String) throws(StoreError) {
    let file = unsafe openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw StoreError("open", path(of: name)) }
    defer { close(file) }
    guard fsync(file) == 0 else { throw StoreError("sync", path(of: name)) }
  }

  /// Calls fsync(2) on the folder itself, to write its names. A file system that does not support
  /// this (`EINVAL`) writes names in its own way.
  fileprivate func sync() throws(StoreError) {
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw StoreError("sync", path) }
  }
}
