internal import Glibc

/// A folder of the store, held open: what is in it is reached through its descriptor and never
/// through a symbolic link, so that a path that somebody renames or replaces cannot lead elsewhere.
final class StoreFolder: Sendable {
  let descriptor: Int32
  /// For messages only.
  let path: String
  /// The permission bits of the store's own folder, with set-group-ID and sticky; those within it
  /// are made with the same.
  let mode: mode_t

  /// Opens the store's own folder at a path that the user chose, symbolic links and all.
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

  /// Opens a folder within this one.
  func folder(_ name: String) throws(StoreError) -> StoreFolder {
    try StoreFolder(name, in: self)
  }

  /// Opens a folder within this one, and makes it first, with this one's mode, if it is not there.
  func folderMade(_ name: String) throws(StoreError) -> StoreFolder {
    do {
      return try folder(name)
    } catch let error where error.call.code == ENOENT {
      _ = try makeFolder(name)
      return try folder(name)
    }
  }

  /// Makes a folder within this one, with exactly its mode whatever the umask; false when there is
  /// something of that name already.
  func makeFolder(_ name: String) throws(StoreError) -> Bool {
    try Self.make(name, in: descriptor, mode: mode, path: path(of: name))
  }

  /// Makes the folder at a path, and those above it that are missing, with exactly this mode.
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

  /// What stands above the last part of a path, with its slash; empty when there is nothing.
  private static func parent(of path: String) -> String {
    let slash = UInt8(ascii: "/")
    var rest = path.utf8[...]
    while rest.last == slash { rest.removeLast() }
    while let byte = rest.last, byte != slash { rest.removeLast() }
    return String(decoding: rest, as: UTF8.self)
  }

  private static func make(_ name: String, in parent: Int32, mode: mode_t, path: String) throws(StoreError) -> Bool {
    guard unsafe mkdirat(parent, name, mode) == 0 else {
      guard errno == EEXIST else { throw StoreError("create", path) }
      return false
    }
    var status = stat()
    guard unsafe fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { throw StoreError("read the mode of", path) }
    guard unsafe status.st_mode & 0o7777 == mode || fchmodat(parent, name, mode, AT_SYMLINK_NOFOLLOW) == 0 else {
      throw StoreError("set the mode of", path)
    }
    return true
  }

  /// Creates a file that was not there, for writing; the caller closes the descriptor.
  func createFile(_ name: String, mode: mode_t) throws(StoreError) -> Int32 {
    let created = unsafe openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
    guard created >= 0 else { throw StoreError("create", path(of: name)) }
    return created
  }

  /// What is known of an entry, or nil when it is not there or cannot be seen.
  func status(of name: String) -> StoreStatus? {
    var status = stat()
    return unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? StoreStatus(status) : nil
  }

  /// What is known of this folder itself.
  var status: StoreStatus? {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? StoreStatus(status) : nil
  }

  /// Sets the last use of a file to now; false when it is not there. Another user's file keeps its
  /// time and is there all the same.
  func touch(_ name: String) -> Bool {
    unsafe utimensat(descriptor, name, nil, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT
  }

  /// Removes a file; false when that failed, which leaves it to the next prune or start.
  @discardableResult
  func removeFile(_ name: String) -> Bool {
    unsafe unlinkat(descriptor, name, 0) == 0
  }

  /// Removes an empty folder; one that is not empty stays.
  func removeFolder(_ name: String) {
    unsafe unlinkat(descriptor, name, AT_REMOVEDIR)
  }

  /// Takes this folder's lock for as long as this object lives; false when another object, of this
  /// process or another, has it.
  func tryLock() throws(StoreError) -> Bool {
    guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return true }
    guard errno == EWOULDBLOCK else { throw StoreError("lock", path) }
    return false
  }

  /// The names of the entries, in no order, without `.` and `..`.
  func names() throws(StoreError) -> [String] {
    // A descriptor of its own, since the position in the listing belongs to the open folder.
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

/// What the store asks the system about a file or folder.
struct StoreStatus: Equatable, Sendable {
  var isRegular: Bool
  /// Bytes.
  var size: Int64
  /// The time of the last change, which the store sets at each use; wall clock, since 1970.
  var lastUse: Duration
  var device: UInt64
  var inode: UInt64
  /// Whether the file has a second name.
  var isHeld: Bool

  init(_ status: stat) {
    isRegular = status.st_mode & S_IFMT == S_IFREG
    size = Int64(status.st_size)
    lastUse = .seconds(status.st_mtim.tv_sec) + .nanoseconds(status.st_mtim.tv_nsec)
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    isHeld = status.st_nlink > 1
  }

  /// Whether both are the same file, whatever became of it meanwhile.
  func isSameFile(as other: StoreStatus?) -> Bool {
    device == other?.device && inode == other?.inode
  }
}
