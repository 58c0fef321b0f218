internal import CLinux
internal import Attache
internal import Glibc

/// A folder of files that come in or go out, and the folder that contains it. Files are reached by
/// their paths within the containing folder, without following symbolic links.
///
/// What is in transit lies beside the folder, as `NAME.taken`: whoever may write only the folder
/// itself cannot redirect attache by a link.
final class QueueFolder: Sendable {
  let descriptor: Int32
  /// The path of the containing folder without symbolic links.
  let path: String
  /// The folder, within the containing folder.
  let name: FileName
  /// The permission bits of the folders beside it: those that both this folder and the containing one
  /// have, and only the user's own in a sticky folder, such as /tmp.
  let mode: mode_t
  /// The permissions of files within it.
  let fileMode: FileMode

  /// - Parameter path: the folder, which must exist.
  init(at path: String) throws(QueueError) {
    guard let resolved = unsafe realpath(path, nil) else {
      throw .unavailable("\(path): \(SystemError.text(errno)); create the folder first")
    }
    defer { unsafe free(resolved) }
    let whole = FileName(unsafe String(cString: resolved))
    name = FileName(bytes: Array(whole.bytes.reversed().prefix { $0 != UInt8(ascii: "/") }.reversed()))
    self.path = String(decoding: whole.bytes.dropLast(name.bytes.count + 1), as: UTF8.self)
    let opened = unsafe open(self.path + "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard opened >= 0 else { throw SystemFailure(errno, at: path).error }
    descriptor = opened
    var status = stat()
    let isFound = unsafe name.withPath { unsafe fstatat(opened, $0, &status, AT_SYMLINK_NOFOLLOW) } == 0
    guard isFound, status.st_mode & S_IFMT == S_IFDIR else {
      throw .unavailable("\(path): is not a folder within another one; choose another")
    }
    fileMode = FileMode(inFolderOf: status.st_mode)
    var outer = stat()
    guard unsafe fstat(opened, &outer) == 0 else { throw SystemFailure(errno, at: self.path).error }
    guard status.st_dev == outer.st_dev else {
      throw .unavailable("\(path): is a file system of its own, and files cannot be moved out of it; choose a folder within it")
    }
    mode = status.st_mode & outer.st_mode & (outer.st_mode & S_ISVTX == 0 ? 0o6777 : 0o700) | 0o700
  }

  deinit {
    close(descriptor)
  }

  /// The path of the folder.
  var folderPath: String { path(of: name) }

  /// - Throws: ``QueueError/unavailable(_:)`` when the folder was moved away or removed.
  func checkPresence() throws(QueueError) {
    guard has(name) else { throw .unavailable("\(folderPath): the folder was removed while it was in use") }
  }

  func path(of name: FileName) -> String { "\(path)/\(String(decoding: name.bytes, as: UTF8.self))" }

  func failure(_ name: FileName) -> QueueError { SystemFailure(errno, at: path(of: name)).error }

  // MARK: Changing

  /// Renames a file and replaces a file of the new name. Creates a missing folder.
  ///
  /// - Returns: false when the file does not exist.
  @discardableResult
  func move(_ name: FileName, to newName: FileName) throws(QueueError) -> Bool {
    while unsafe newName.withPath({ new in unsafe name.withPath { old in unsafe renameat(descriptor, old, descriptor, new) } }) != 0 {
      guard errno == ENOENT else { throw failure(newName) }
      guard has(name) else { return false }
      guard let parent = newName.parent, try makeFolder(parent) else { throw failure(newName) }
    }
    return true
  }

  /// Creates a folder, and its parents.
  ///
  /// - Returns: false when it existed.
  @discardableResult
  func makeFolder(_ name: FileName) throws(QueueError) -> Bool {
    while unsafe name.withPath({ unsafe mkdirat(descriptor, $0, mode) }) != 0 {
      if errno == EEXIST { return false }
      guard errno == ENOENT, let parent = name.parent, try makeFolder(parent) else { throw failure(name) }
    }
    // Sets the mode despite the umask and a lost set-group-ID bit.
    unsafe name.withPath { _ = unsafe fchmodat(descriptor, $0, mode, 0) }
    return true
  }

  /// Writes a file and replaces a file of the same name. Creates a missing folder.
  func write(_ bytes: [UInt8], to name: FileName) throws(QueueError) {
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC
    var file = unsafe name.withPath { unsafe openat(descriptor, $0, flags, fileMode.bits) }
    if file < 0, errno == ENOENT, let parent = name.parent, try makeFolder(parent) {
      file = unsafe name.withPath { unsafe openat(descriptor, $0, flags, fileMode.bits) }
    }
    guard file >= 0 else { throw failure(name) }
    defer { close(file) }
    _ = fileMode.set(on: file)
    do throws(SystemError) {
      try WholeWrite.write(bytes, to: file)
    } catch {
      throw SystemFailure(error.number, at: path(of: name)).error
    }
  }

  /// Removes a file. A missing file is no error.
  func remove(_ name: FileName) throws(QueueError) {
    guard unsafe name.withPath({ unsafe unlinkat(descriptor, $0, 0) }) == 0 || errno == ENOENT else { throw failure(name) }
  }

  /// Removes a folder if it is empty.
  func removeFolder(_ name: FileName) {
    unsafe name.withPath { _ = unsafe unlinkat(descriptor, $0, AT_REMOVEDIR) }
  }

  /// Waits until all changes so far are on disk, with one syncfs(2) for any number of files and
  /// names. This also writes other processes' changes on the same file system.
  func sync() throws(QueueError) {
    guard linux_syncfs(descriptor) == 0 else { throw SystemFailure(errno, at: path).error }
  }
}
