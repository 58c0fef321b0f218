internal import Glibc

/// An open folder of the store. Its entries are accessed through its descriptor and never through a
/// symbolic link, so that renaming or replacing a path cannot redirect the store.
final class StoreFolder: Sendable {
  let descriptor: Int32
  /// For messages only.
  let path: String
  /// The permission bits of the store's own folder, with set-group-ID and sticky. Folders within it
  /// are created with the same bits.
  let mode: mode_t

  /// Opens the store's own folder. The path comes from the user and may contain symbolic links.
  init(at path: String) throws(StoreError) {
    let opened = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard opened >= 0 else { throw StoreError("open", path) }
    var status = stat()
    guard unsafe fstat(opened, &status) == 0 else {
      let error = StoreError("read the mode of", path)
      close(opened)
      throw error
    }
    descriptor = opened
    self.path = path
    mode = status.st_mode & 0o7777
  }

  private init(_ name: String, in parent: StoreFolder) throws(StoreError) {
    let opened = unsafe openat(parent.descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard opened >= 0 else { throw StoreError("open", parent.path(of: name)) }
    descriptor = opened
    path = parent.path(of: name)
    mode = parent.mode
  }

  deinit {
    close(descriptor)
  }

  /// Opens a subfolder.
  func folder(_ name: String) throws(StoreError) -> StoreFolder {
    try StoreFolder(name, in: self)
  }

  /// Opens a file for reading.
  ///
  /// - Returns: a descriptor, which belongs to the caller.
  func openFile(_ name: String) throws(StoreError) -> Int32 {
    let opened = unsafe openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard opened >= 0 else { throw StoreError("open", path(of: name)) }
    return opened
  }

  /// Opens a subfolder, and creates it if it does not exist.
  ///
  /// - Parameter mode: the mode of a new folder; this folder's mode when nil.
  func folderMade(_ name: String, mode: mode_t? = nil) throws(StoreError) -> StoreFolder {
    do {
      return try folder(name)
    } catch let error where error.call.code == ENOENT {
      _ = try Self.make(name, in: descriptor, mode: mode ?? self.mode, path: path(of: name))
      return try folder(name)
    }
  }

  /// The mode of a folder whose locks a process waits for, and of the index's folder. Only those may
  /// open it who may write the store: 0700 for a store with mode 0755, 02770 for one with 02775.
  var writersMode: mode_t {
    let writers = mode & 0o222
    return mode & 0o7000 | 0o700 | writers << 1 | writers | writers >> 1
  }

  /// Opens a subfolder that only those can open who may write the store, and creates it if it does
  /// not exist. Takes the rights of others from an existing one.
  func writersFolderMade(_ name: String) throws(StoreError) -> StoreFolder {
    let folder = try folderMade(name, mode: writersMode)
    var status = stat()
    guard unsafe fstat(folder.descriptor, &status) == 0 else { throw StoreError("read the mode of", folder.path) }
    let excess = status.st_mode & 0o777 & ~writersMode
    guard excess == 0 || fchmod(folder.descriptor, status.st_mode & 0o7777 & ~excess) == 0 else {
      throw StoreError("set the mode of", folder.path)
    }
    return folder
  }

  /// Creates a subfolder with exactly this folder's mode, whatever the umask. Returns false when an
  /// entry of that name exists.
  func makeFolder(_ name: String) throws(StoreError) -> Bool {
    try Self.make(name, in: descriptor, mode: mode, path: path(of: name))
  }

  /// Creates the folder at a path, and missing parent folders, with exactly this mode.
  static func make(at path: String, mode: mode_t) throws(StoreError) {
    do {
      _ = try make(path, in: AT_FDCWD, mode: mode, path: path)
    } catch let error where error.call.code == ENOENT {
      let parent = parent(of: path)
      guard !parent.isEmpty else { throw error }
      try make(at: parent, mode: mode)
      _ = try make(path, in: AT_FDCWD, mode: mode, path: path)
    }
  }

  /// Returns the path without its last component, with its trailing slash. Empty when there is no
  /// parent.
  static func parent(of path: String) -> String {
    let slash = UInt8(ascii: "/")
    var rest = path.utf8[...]
    while rest.last == slash { rest.removeLast() }
    while let byte = rest.last, byte != slash { rest.removeLast() }
    return String(decoding: rest, as: UTF8.self)
  }

  private static func make(_ name: String, in parent: Int32, mode: mode_t, path: String) throws(StoreError) -> Bool {
    // A new folder inherits set-group-ID, and mkdir(2) ignores it in the mode. A call with it fails
    // under RestrictSUIDSGID= of systemd.
    guard unsafe mkdirat(parent, name, mode & 0o1777) == 0 else {
      guard errno == EEXIST else { throw StoreError("create", path) }
      return false
    }
    var status = stat()
    guard unsafe fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { throw StoreError("read the mode of", path) }
    // A fetcher may change no mode (EPERM). It has no umask, so only a default ACL removes bits there.
    guard unsafe status.st_mode & 0o7777 == mode || fchmodat(parent, name, mode, AT_SYMLINK_NOFOLLOW) == 0 || errno == EPERM else {
      throw StoreError("set the mode of", path)
    }
    return true
  }

  /// Creates a new file for writing, and fails if it exists. The caller closes the descriptor.
  func createFile(_ name: String, mode: mode_t) throws(StoreError) -> Int32 {
    let created = unsafe openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
    guard created >= 0 else { throw StoreError("create", path(of: name)) }
    return created
  }

  /// Returns the status of an entry, or nil when it does not exist or cannot be read.
  func status(of name: String) -> StoreStatus? {
    var status = stat()
    return unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? StoreStatus(status) : nil
  }

  /// The status of this folder itself.
  var status: StoreStatus? {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? StoreStatus(status) : nil
  }

  /// Removes a file. Returns false on failure; the next prune or start removes the file then.
  @discardableResult
  func removeFile(_ name: String) -> Bool {
    unsafe unlinkat(descriptor, name, 0) == 0
  }

  /// Removes a folder if it is empty.
  func removeFolder(_ name: String) {
    unsafe unlinkat(descriptor, name, AT_REMOVEDIR)
  }

  /// Takes this folder's lock for the lifetime of this object. Returns false when another object,
  /// of this or another process, holds it.
  func tryLock() throws(StoreError) -> Bool {
    guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return true }
    guard errno == EWOULDBLOCK else { throw StoreError("lock", path) }
    return false
  }

  /// Returns the names of the entries in no particular order, without `.` and `..`.
  func names() throws(StoreError) -> [String] {
    // This opens the folder again, because the position in the listing belongs to the open file
    // description.
    let listed = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard listed >= 0 else { throw StoreError("list", path) }
    do throws(SystemError) {
      return try FolderListing.names(closing: listed).map { String(decoding: $0, as: UTF8.self) }
    } catch {
      throw StoreError("list", path, code: error.number)
    }
  }

  func path(of name: String) -> String {
    "\(path)/\(name)"
  }
}

/// The status of a file or folder.
struct StoreStatus: Equatable, Sendable {
  var isRegular: Bool
  /// In bytes.
  var size: Int64
  /// The modification time, which the store sets at each use; wall clock, since 1970.
  var lastUse: Duration
  var device: UInt64
  var inode: UInt64
  /// Whether the file has more than one link.
  var isHeld: Bool

  init(_ status: stat) {
    isRegular = status.st_mode & S_IFMT == S_IFREG
    size = Int64(status.st_size)
    lastUse = .seconds(status.st_mtim.tv_sec) + .nanoseconds(status.st_mtim.tv_nsec)
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    isHeld = status.st_nlink > 1
  }

  /// Returns whether both are the same file, even if it has changed.
  func isSameFile(as other: StoreStatus?) -> Bool {
    device == other?.device && inode == other?.inode
  }
}
