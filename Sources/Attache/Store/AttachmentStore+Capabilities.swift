internal import CSandbox
internal import Glibc

/// What fetchers reach, which have no capabilities: root reaches other users' files only by them.
extension AttachmentStore {
  /// Checks that a process of this user without capabilities can use a store, or create it, and read
  /// some files. Creates and changes nothing. Does nothing in a process that has no capabilities
  /// itself.
  ///
  /// - Parameters:
  ///   - directory: the path of the store, which need not exist.
  ///   - files: files that such a process must read, if they exist.
  /// - Throws: ``StartError``, which tells the user what cannot be reached, and what to do.
  package static func checkReach(to directory: String, reading files: [String]) throws(StartError) {
    // They belong to a thread, and come back.
    let capabilities = sandbox_exchange_capabilities(0)
    guard capabilities != 0 else { return }
    let closed = closedEntry(ofStoreAt: directory) ?? files.first { isClosed($0) }
    _ = sandbox_exchange_capabilities(capabilities)
    guard let path = closed else { return }
    let advice = files.contains(path) ? "let root own that file" : "choose a --store that root owns"
    throw StartError(
      "\(path) is open to this process only by its capabilities (capabilities(7)), which the processes that fetch and upload drop: "
        + "start attache as \(owner(of: path)), or \(advice)")
  }

  /// The first part of a store that the calling thread may not use; nil if it may use everything.
  private static func closedEntry(ofStoreAt directory: String) -> String? {
    let folder: StoreFolder
    let names: [String]
    do throws(StoreError) {
      folder = try StoreFolder(at: directory)
      names = try folder.names()
    } catch {
      // Another failure has other causes, and appears where the store is used.
      switch error.call.code {
      case EACCES: return firstClosedFolder(to: directory)
      case ENOENT: return closedFolder(above: directory)
      default: return nil
      }
    }
    if isClosed(".", for: R_OK | W_OK | X_OK, in: folder.descriptor) { return directory }
    for name in names where StoreName.isFolder(name) || ownFolders.contains(name) {
      if isClosed(name, for: R_OK | W_OK | X_OK, in: folder.descriptor) { return folder.path(of: name) }
    }
    return isClosed(StoreIndex.path, for: R_OK | W_OK, in: folder.descriptor) ? folder.path(of: StoreIndex.path) : nil
  }

  /// The nearest folder above a path that exists, if the calling thread may not create a folder in it.
  private static func closedFolder(above path: String) -> String? {
    var folder = path
    repeat {
      folder = StoreFolder.parent(of: folder)
      let name = folder.isEmpty ? "." : folder
      if unsafe faccessat(AT_FDCWD, name, W_OK | X_OK, AT_EACCESS) == 0 { return nil }
      if errno == EACCES { return firstClosedFolder(to: name) }
    } while errno == ENOENT && !folder.isEmpty
    return nil
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
