internal import Glibc
internal import Synchronization

/// How the attachments of unread results stay in the store: a queue holds them by hard links of its
/// own, and what has more than one link is not evicted.
extension AttachmentStore {
  /// Holds files for a queue, whatever their age and however large the store grows, until their
  /// links are removed or the queue is gone.
  ///
  /// A link that is there already is the same hold. The store's file is whole and under its name
  /// when this returns, even if another process was evicting it meanwhile.
  ///
  /// - Parameters:
  ///   - files: pinned by the caller.
  ///   - queue: where the queue is, its kind and its path (`sqlite:PATH`).
  /// - Returns: the links' absolute paths, one for each different file.
  public func hold(_ files: [StoredFile], for queue: String) throws(StoreError) -> [String] {
    guard !files.isEmpty else { return [] }
    let holds = try StoreHolds(of: queue, in: self)
    try holds.folder.lock(exclusively: false)
    var paths: [String] = []
    var seen: Set<StoreName> = []
    for file in files {
      let name = file.name
      guard seen.insert(name).inserted else { continue }
      let isNew = try link(name, size: Int64(file.size), in: holds.folder)
      // Another process may have made the link and not synced it yet.
      ledger.withLock { if isNew || !$0.syncs.isKnown(name, now: clock()) { $0.syncs.noteHold(in: holds.name) } }
      paths.append("\(realPath)/\(StoreHolds.parentName)/\(holds.name)/\(name.fileName)")
    }
    return paths
  }

  /// Keeps a queue's holds as they are: a worker shares the lock from before ``hold(_:for:)`` until
  /// the queue has the results. A process that removes links that no result has takes the lock
  /// alone, and so removes none that a worker has just taken.
  ///
  /// - Returns: what has the lock for as long as it lives.
  public func lockHolds(of queue: String) throws(StoreError) -> any Sendable {
    try StoreHolds(of: queue, in: self, waitsInTurn: true).folder
  }

  /// Whether a folder of holds is a queue's own: no other queue adds links to it, not even one at
  /// the same path in another container. Of a folder that an earlier version made, nobody knows.
  package static func isHoldsFolder(_ path: String, of queue: String) -> Bool {
    guard let name = StoreHolds.ownName(of: queue) else { return false }
    return path.utf8.reversed().starts(with: "/\(StoreHolds.parentName)/\(name)".utf8.reversed())
  }

  /// The absolute path of the folder of a queue's holds; it is there once the queue has held
  /// something.
  public func holdsFolder(of queue: String) -> String {
    StoreHolds.path(of: queue, in: self)
  }

  /// Brings the store's name and the queue's to lead to the same whole file.
  ///
  /// - Returns: whether a link was made.
  private func link(_ name: StoreName, size: Int64, in holds: StoreFolder) throws(StoreError) -> Bool {
    let shelf = try root.folderMade(name.folder)
    func whole(_ status: StoreStatus?) -> StoreStatus? { status.flatMap { $0.isRegular && $0.size == size ? $0 : nil } }
    // Each turn mends what the last one found; other processes may undo that, but not each time.
    for turn in 0..<8 {
      switch (whole(shelf.status(of: name.fileName)), whole(holds.status(of: name.fileName))) {
      case (let stored?, let held?) where stored.isSameFile(as: held): return turn > 0
      case (.some, _): try link(name.fileName, of: shelf, into: holds)
      case (nil, .some): try link(name.fileName, of: holds, into: shelf)
      case (nil, nil): throw StoreError(StoreError.holding, shelf.path(of: name.fileName), code: ENOENT)
      }
    }
    throw StoreError(StoreError.holding, shelf.path(of: name.fileName), code: EBUSY)
  }

  /// Gives a file of one folder the same name in another, in the place of what is there. A file
  /// that has gone meanwhile is no error.
  private func link(_ file: String, of folder: StoreFolder, into other: StoreFolder) throws(StoreError) {
    guard unsafe linkat(folder.descriptor, file, other.descriptor, file, 0) != 0, errno != ENOENT else { return }
    guard errno == EEXIST else { throw StoreError("link", other.path(of: file)) }
    let aside = "\(ledger.withLock { $0.nextNumber() })"
    guard unsafe linkat(folder.descriptor, file, temporary.folder.descriptor, aside, 0) == 0 else {
      if errno == ENOENT { return }
      throw StoreError("link", temporary.folder.path(of: aside))
    }
    // What is renamed to another name of the same file stays.
    defer { temporary.folder.removeFile(aside) }
    try other.adopt(aside, from: temporary.folder, as: file)
  }

  /// Where the store is, without symbolic links.
  var realPath: String {
    guard let real = unsafe realpath(root.path, nil) else { return root.path }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }
}
