internal import Glibc
internal import Synchronization

/// Keeps the attachments of unread results in the store. A queue holds each file with a hard link
/// of its own; a file with more than one link is not evicted.
extension AttachmentStore {
  /// Holds files for a queue, whatever their age and the size of the store, until their links are
  /// removed or the queue is gone.
  ///
  /// An existing link counts as the hold. When this method returns, the store's file is complete
  /// and has its name, even if another process was evicting it at the same time.
  ///
  /// - Parameters:
  ///   - files: the files to hold. The caller has pinned them.
  ///   - owner: the queue.
  /// - Returns: the absolute paths of the links, one for each distinct file.
  /// - Throws: ``StoreError`` when a file is gone or a link cannot be made.
  public func hold(_ files: [StoredFile], for owner: HoldOwner) throws(StoreError) -> [String] {
    guard !files.isEmpty else { return [] }
    let holds = try StoreHolds(of: owner, in: self)
    try holds.folder.lock(exclusively: false)
    var paths: [String] = []
    var seen: Set<StoreName> = []
    for file in files {
      let name = file.name
      guard seen.insert(name).inserted else { continue }
      let isNew = try link(name, size: Int64(file.size), in: holds.folder)
      // Another process may have made the link without syncing it yet.
      ledger.withLock { if isNew || !$0.syncs.isKnown(name, now: clock()) { $0.syncs.noteHold(in: holds.name) } }
      paths.append("\(realPath)/\(StoreHolds.parentName)/\(holds.name)/\(name.fileName)")
    }
    return paths
  }

  /// Protects a queue's holds from removal. A worker takes the shared lock before ``hold(_:for:)``
  /// and keeps it until the queue has the results. A process that removes unused links takes the
  /// exclusive lock, so it cannot remove links that a worker has just made.
  ///
  /// - Returns: an object that keeps the lock until it is released.
  /// - Throws: ``StoreError`` when the folder cannot be created or locked.
  public func lockHolds(of owner: HoldOwner) throws(StoreError) -> any Sendable {
    try StoreHolds(of: owner, in: self, waitsInTurn: true).folder
  }

  /// Returns whether a folder of holds belongs to this queue alone: no other queue adds links to
  /// it, not even a queue at the same path in another container.
  package static func isHoldsFolder(_ path: String, of owner: HoldOwner) -> Bool {
    guard let name = StoreHolds.ownName(of: owner) else { return false }
    return path.utf8.reversed().starts(with: "/\(StoreHolds.parentName)/\(name)".utf8.reversed())
  }

  /// Returns the absolute path of the folder of a queue's holds. The folder exists once the queue
  /// has held a file.
  public func holdsFolder(of owner: HoldOwner) -> String {
    StoreHolds.path(of: owner, in: self)
  }

  /// Makes the store's name and the queue's name refer to the same complete file.
  ///
  /// - Returns: whether a link was made.
  private func link(_ name: StoreName, size: Int64, in holds: StoreFolder) throws(StoreError) -> Bool {
    let subfolder = try root.folderMade(name.folder)
    func whole(_ status: StoreStatus?) -> StoreStatus? { status.flatMap { $0.isRegular && $0.size == size ? $0 : nil } }
    // Each iteration repairs what the last one found. Other processes may undo that, but not every
    // time.
    for turn in 0..<8 {
      switch (whole(subfolder.status(of: name.fileName)), whole(holds.status(of: name.fileName))) {
      case (let stored?, let held?) where stored.isSameFile(as: held): return turn > 0
      case (.some, _): try link(name.fileName, of: subfolder, into: holds)
      case (nil, .some): try link(name.fileName, of: holds, into: subfolder)
      case (nil, nil): throw StoreError(StoreError.holding, subfolder.path(of: name.fileName), code: ENOENT)
      }
    }
    throw StoreError(StoreError.holding, subfolder.path(of: name.fileName), code: EBUSY)
  }

  /// Links a file of one folder into another under the same name, replacing an existing file. Does
  /// nothing when the source file is gone.
  private func link(_ file: String, of folder: StoreFolder, into other: StoreFolder) throws(StoreError) {
    guard unsafe linkat(folder.descriptor, file, other.descriptor, file, 0) != 0, errno != ENOENT else { return }
    guard errno == EEXIST else { throw StoreError("link", other.path(of: file)) }
    let aside = "\(ledger.withLock { $0.nextNumber() })"
    guard unsafe linkat(folder.descriptor, file, temporary.folder.descriptor, aside, 0) == 0 else {
      if errno == ENOENT { return }
      throw StoreError("link", temporary.folder.path(of: aside))
    }
    // If both names already refer to the same file, rename(2) does nothing and leaves `aside`.
    defer { temporary.folder.removeFile(aside) }
    try other.adopt(aside, from: temporary.folder, as: file)
  }

  /// The path of the store without symbolic links.
  var realPath: String {
    guard let real = unsafe realpath(root.path, nil) else { return root.path }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }
}
