internal import CSandbox
internal import Glibc

/// What fetchers reach, which have no capabilities: root reaches other users' files only by them.
extension AttachmentStore {
  /// Checks that a process of this user without capabilities can use the store and read some files.
  /// Does nothing in a process that has no capabilities itself.
  ///
  /// - Parameter files: files that such a process must read, if they exist.
  /// - Throws: ``StartError``, which tells the user what cannot be reached, and what to do.
  package func checkReach(reading files: [String]) throws(StartError) {
    // They belong to a thread, and come back.
    let capabilities = sandbox_exchange_capabilities(0)
    guard capabilities != 0 else { return }
    let closed = closedEntry ?? files.first { Self.isClosed($0) }
    _ = sandbox_exchange_capabilities(capabilities)
    guard let path = closed else { return }
    let advice = files.contains(path) ? "let root own that file" : "choose a --store that root owns"
    throw StartError(
      "\(path) is open to this process only by its capabilities (capabilities(7)), which the processes that fetch and upload drop: "
        + "start attache as \(Self.owner(of: path)), or \(advice)")
  }

  /// The first part of the store that the calling thread may not use; nil if it may use everything.
  private var closedEntry: String? {
    let folder: StoreFolder
    let names: [String]
    do throws(StoreError) {
      folder = try StoreFolder(at: root.path)
      names = try folder.names()
    } catch {
      // Another failure has other causes, and appears where the store is used.
      return error.call.code == EACCES ? Self.firstClosedFolder(to: root.path) : nil
    }
    if Self.isClosed(".", for: R_OK | W_OK | X_OK, in: folder.descriptor) { return root.path }
    for name in names where StoreName.isFolder(name) || Self.ownFolders.contains(name) {
      if Self.isClosed(name, for: R_OK | W_OK | X_OK, in: folder.descriptor) { return root.path(of: name) }
    }
    return Self.isClosed(StoreIndex.path, for: R_OK | W_OK, in: folder.descriptor) ? root.path(of: StoreIndex.path) : nil
  }

  /// The first folder on the way to a path that the calling thread may not enter, or the path itself.
  private static func firstClosedFolder(to path: String) -> String {
    for end in path.indices where path[end] == "/" && end > path.startIndex {
      let folder = String(path[..<end])
      if isClosed(folder, for: X_OK) { return folder }
    }
    return path
  }

  private static let ownFolders = [StoreIndex.folderName, StoreTemporaryFolder.parentName]

  private static func isClosed(_ path: String, for mode: Int32 = R_OK, in folder: Int32 = AT_FDCWD) -> Bool {
    unsafe faccessat(folder, path, mode, AT_EACCESS) != 0 && errno == EACCES
  }

  private static func owner(of path: String) -> String {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? "its owner (user \(status.st_uid))" : "its owner"
  }
}
