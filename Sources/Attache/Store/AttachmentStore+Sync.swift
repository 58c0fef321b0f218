internal import Glibc
internal import Synchronization

/// How files come to outlast a power failure.
extension AttachmentStore {
  /// Returns when files, their names and what holds them are on disk.
  ///
  /// A file that this process has synced within the last minutes costs nothing.
  public func sync(_ files: [StoredFile]) throws(StoreError) {
    let now = clock()
    let names = Set(files.map(\.name))
    let (new, holds) = ledger.withLock { ledger in (names.filter { !ledger.syncs.isKnown($0, now: now) }, ledger.syncs.holds) }
    let shelves = Dictionary(grouping: new, by: \.folder)
    for (folder, names) in shelves {
      let shelf = try root.folder(folder)
      for name in names { try shelf.syncFile(name.fileName) }
      try shelf.sync()
    }
    for (name, _) in holds {
      let parent = try root.folder(StoreHolds.parentName)
      // A folder that has gone held what nobody reads any more.
      if let folder = try? parent.folder(name) {
        try folder.syncFile(StoreHolds.queueFile)
        try folder.sync()
      }
      try parent.sync()
    }
    // For the names of the shelves.
    if !shelves.isEmpty || !holds.isEmpty { try root.sync() }
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

  /// fsync(2) of the folder itself: its names. A file system that knows no such thing (`EINVAL`)
  /// writes names in its own way.
  fileprivate func sync() throws(StoreError) {
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw StoreError("sync", path) }
  }
}
