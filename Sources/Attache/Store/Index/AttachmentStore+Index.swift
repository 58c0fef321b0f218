internal import Glibc
internal import Synchronization

/// The file of the store's index.
extension AttachmentStore {
  /// The index may take one sixteenth of the store's maximum size. It does not count towards that
  /// maximum.
  private static let indexShare: Int64 = 16
  /// The size that the index may always have, in bytes.
  private static let smallestIndex: Int64 = 1 << 20

  /// Creates the store's index. It must be used by one thread only.
  func makeIndex() -> StoreIndex {
    StoreIndex(of: self)
  }

  /// The status of the index's file. Nil when there is none.
  var indexStatus: StoreStatus? {
    root.status(of: StoreIndex.path)
  }

  /// The path of the index without symbolic links: SQLite follows none.
  var indexPath: String {
    realPath + "/" + StoreIndex.path
  }

  /// Whether the index is large enough to be worth a sweep.
  var indexIsLarge: Bool {
    (indexStatus?.size ?? 0) / Int64(OpenIndex.pageSize) > maximumIndexPages / 4 * 3
  }

  var maximumIndexPages: Int64 {
    max(Self.smallestIndex, limits.maximumBytes / Self.indexShare) / Int64(OpenIndex.pageSize)
  }

  /// Creates an empty index if there is none. The file appears complete, with the mode of the
  /// store's files.
  ///
  /// - Returns: whether an index exists.
  func createIndex() -> Bool {
    guard let bytes = try? IndexConnection.emptyFile(tables: OpenIndex.tables, pageSize: OpenIndex.pageSize),
      let folder = try? root.folderMade(StoreIndex.folderName, mode: root.writersMode), let name = try? temporaryFile(of: bytes)
    else { return false }
    defer { temporary.folder.removeFile(name) }
    // If another process does the same, the first index stays.
    return unsafe linkat(temporary.folder.descriptor, name, folder.descriptor, StoreIndex.fileName, 0) == 0 || errno == EEXIST
  }

  /// Renames a damaged index, unless another process has done so.
  ///
  /// This needs the lock of the index's folder: a second process that found the same file damaged
  /// must not remove files of the new index.
  ///
  /// - Parameter file: the damaged file.
  func setIndexAside(_ file: StoreStatus) {
    guard let folder = try? root.folder(StoreIndex.folderName), Self.lockSoon(folder),
      file.isSameFile(as: folder.status(of: StoreIndex.fileName))
    else { return }
    // The companion files are removed first: while the name is taken, there is no new index that
    // they could belong to.
    for companion in StoreIndex.companions { folder.removeFile(companion) }
    folder.rename(StoreIndex.fileName, to: StoreIndex.damagedName)
  }

  /// Takes a folder's lock. Other processes hold it only for a few system calls. Gives up after 20
  /// ms, for example when the holder is stopped.
  private static func lockSoon(_ folder: StoreFolder) -> Bool {
    for _ in 0..<20 {
      if (try? folder.tryLock()) == true { return true }
      usleep(1_000)
    }
    return false
  }

  /// Creates a complete file in a folder of the store, unless one of that name exists.
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
  /// Renames an entry, replacing an existing entry of the new name.
  fileprivate func rename(_ name: String, to newName: String) {
    unsafe renameat(descriptor, name, descriptor, newName)
  }
}
