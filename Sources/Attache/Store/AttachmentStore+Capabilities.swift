internal import CSandbox
internal import Glibc
internal import Synchronization

/// What fetchers reach, which have no capabilities: root reaches other users' files only by them.
extension AttachmentStore {
  /// Checks that a process of this user without capabilities can use the store and read some files.
  /// Does nothing in a process that has no capabilities itself.
  ///
  /// - Parameter files: files that such a process must read, if they exist.
  /// - Throws: ``StartError``, which tells the user what cannot be reached, and what to do.
  package func checkReach(reading files: [String]) throws(StartError) {
    guard sandbox_has_capabilities() else { return }
    let closed = Mutex<String?>(nil)
    do throws(SystemError) {
      // Capabilities belong to a thread.
      try Thread.start("reach") { [self] in
        guard sandbox_drop_capabilities() else { return }
        closed.withLock { $0 = closedEntry ?? files.first(where: Self.isClosed) }
      }.join()
    } catch {
      throw StartError("\(error)")
    }
    guard let path = closed.withLock({ $0 }) else { return }
    let advice = files.contains(path) ? "let root own that file" : "choose a --store that root owns"
    throw StartError(
      "\(path) is open to this process only by its capabilities (capabilities(7)), which the processes that fetch and upload drop: "
        + "start attache as \(Self.owner(of: path)), or \(advice)")
  }

  /// The first part of the store that the calling thread may not use; nil if it may use everything.
  private var closedEntry: String? {
    guard let folder = try? StoreFolder(at: root.path), let names = try? folder.names() else {
      return Self.firstClosedFolder(to: root.path)
    }
    for name in ["."] + names where name == "." || StoreName.isFolder(name) || Self.ownFolders.contains(name) {
      if unsafe faccessat(folder.descriptor, name, R_OK | W_OK | X_OK, AT_EACCESS) != 0 {
        return name == "." ? root.path : root.path(of: name)
      }
    }
    let index = StoreIndex.path
    let isIndexClosed = unsafe faccessat(folder.descriptor, index, R_OK | W_OK, AT_EACCESS) != 0 && errno == EACCES
    return isIndexClosed ? root.path(of: index) : nil
  }

  /// The first folder on the way to a path that the calling thread may not enter, or the path itself.
  private static func firstClosedFolder(to path: String) -> String {
    for end in path.indices where path[end] == "/" && end > path.startIndex {
      let folder = String(path[..<end])
      if unsafe faccessat(AT_FDCWD, folder, X_OK, AT_EACCESS) != 0 { return folder }
    }
    return path
  }

  private static let ownFolders = [StoreIndex.folderName, StoreTemporaryFolder.parentName]

  private static func isClosed(_ path: String) -> Bool {
    unsafe faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0 && errno == EACCES
  }

  private static func owner(of path: String) -> String {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? "its owner (user \(status.st_uid))" : "its owner"
  }
}
