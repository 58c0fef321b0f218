internal import Glibc
internal import Synchronization

/// The file of the store's index.
extension AttachmentStore {
  /// What the index may take on disk, of the store's maximum; it does not count in that.
  private static let indexShare: Int64 = 16
  /// What it may take in any case, in bytes.
  private static let smallestIndex: Int64 = 1 << 20

  /// Opens the store's index; for one thread.
  func makeIndex() -> StoreIndex {
    StoreIndex(of: self)
  }

  /// Whether something bears the index's name.
  var hasIndex: Bool {
    root.status(of: StoreIndex.fileName) != nil
  }

  /// Where the index is, without symbolic links: SQLite follows none.
  var indexPath: String {
    realPath + "/" + StoreIndex.fileName
  }

  /// Whether the index is so large that what it holds is worth a look.
  var indexIsLarge: Bool {
    (root.status(of: StoreIndex.fileName)?.size ?? 0) / Int64(OpenIndex.pageSize) > maximumIndexPages / 4 * 3
  }

  var maximumIndexPages: Int64 {
    max(Self.smallestIndex, limits.maximumBytes / Self.indexShare) / Int64(OpenIndex.pageSize)
  }

  /// Puts an empty index where there is none: it appears whole, with the mode of the store's files.
  ///
  /// - Returns: whether there is one.
  func createIndex() -> Bool {
    guard let bytes = try? IndexConnection.emptyFile(tables: OpenIndex.tables, pageSize: OpenIndex.pageSize),
      let name = try? temporaryFile(of: bytes)
    else { return false }
    defer { temporary.folder.removeFile(name) }
    // A second process may do the same: the first index stays.
    return unsafe linkat(temporary.folder.descriptor, name, root.descriptor, StoreIndex.fileName, 0) == 0 || errno == EEXIST
  }

  /// Gives a damaged index another name, unless another process has done so.
  ///
  /// Under the lock of the store's folder: a second process that found the same file damaged must
  /// not remove what belongs to the new index.
  ///
  /// - Parameter file: which file is damaged.
  func setIndexAside(_ file: StoreStatus) {
    // An opening of its own: the processes of a run share the descriptor of the store's folder.
    guard let folder = try? root.folder("."), Self.lockSoon(folder), file.isSameFile(as: folder.status(of: StoreIndex.fileName)) else {
      return
    }
    // First what stands beside it: as long as the name is taken, there is no new index that they
    // could belong to.
    for companion in StoreIndex.companions { folder.removeFile(companion) }
    folder.rename(StoreIndex.fileName, to: StoreIndex.damagedName)
  }

  /// Takes a folder's lock, which others hold for some calls of the system only; gives up after 20
  /// ms, as when a holder was stopped.
  private static func lockSoon(_ folder: StoreFolder) -> Bool {
    for _ in 0..<20 {
      if (try? folder.tryLock()) == true { return true }
      usleep(1_000)
    }
    return false
  }

  /// Puts a file into a folder of the store, whole, where there is none of that name.
  func create(_ name: String, of bytes: [UInt8], in folder: StoreFolder) throws(StoreError) {
    let temporaryName = try temporaryFile(of: bytes)
    defer { temporary.folder.removeFile(temporaryName) }
    guard unsafe linkat(temporary.folder.descriptor, temporaryName, folder.descriptor, name, 0) == 0 || errno == EEXIST else {
      throw StoreError("link", folder.path(of: name))
    }
  }

  private func temporaryFile(of bytes: [UInt8]) throws(StoreError) -> String {
    let name = "\(ledger.withLock { $0.nextNumber() })"
    let descriptor = try temporary.folder.createFile(name, mode: fileMode)
    defer { close(descriptor) }
    guard !setsFileMode || fchmod(descriptor, fileMode) == 0, unsafe write(descriptor, bytes, bytes.count) == bytes.count else {
      let error = StoreError("write", temporary.folder.path(of: name))
      temporary.folder.removeFile(name)
      throw error
    }
    return name
  }
}

extension StoreFolder {
  /// Gives an entry another name, in the place of what bears that.
  fileprivate func rename(_ name: String, to newName: String) {
    unsafe renameat(descriptor, name, descriptor, newName)
  }
}
