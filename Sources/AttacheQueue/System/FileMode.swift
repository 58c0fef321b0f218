internal import Glibc

/// The permissions of a queue's files. They follow the queue's folder: a folder that a group shares
/// has a queue that the group shares.
package struct FileMode: Sendable {
  let bits: mode_t
  /// Whether the process's umask removes bits.
  private let isMasked: Bool

  /// 0644 less the umask. Used when there is no folder to follow.
  package static let usual = FileMode(bits: 0o644, isMasked: true)

  private init(bits: mode_t, isMasked: Bool) {
    (self.bits, self.isMasked) = (bits, isMasked)
  }

  /// The mode of files in a folder: the folder's mode without the execute bits, whatever the umask.
  /// In a sticky folder, such as /tmp, files belong to their creators, and the mode is ``usual``.
  init(inFolder path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      self = .usual
      return
    }
    self.init(inFolderOf: status.st_mode)
  }

  /// The mode of files in a folder that has this mode.
  init(inFolderOf mode: mode_t) {
    // The owner can always read and write.
    self = mode & S_ISVTX == 0 ? FileMode(bits: mode & 0o666 | 0o600, isMasked: false) : .usual
  }

  /// The same mode for the file of a database or of locks: without the rights of those who may not
  /// write it. Whoever can open such a file, even for reading alone, can hold its locks.
  var ofWriters: FileMode { FileMode(bits: bits & ~Self.excess(of: bits), isMasked: isMasked) }

  /// Takes the rights of those who may not write from an existing file, if it has such rights. Does
  /// nothing when there is no such file.
  ///
  /// - Throws: ``QueueError`` when another user owns the file.
  static func restrict(_ path: String) throws(QueueError) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    let excess = excess(of: status.st_mode)
    guard excess != 0, unsafe fchmodat(AT_FDCWD, path, status.st_mode & 0o7777 & ~excess, AT_SYMLINK_NOFOLLOW) != 0 else { return }
    // On a read-only file system, opening the queue says so.
    guard errno != EROFS else { return }
    let mode = String(status.st_mode & 0o777 & ~excess, radix: 8)
    throw .unavailable("\(path): others can read it, and so hold its locks; its owner must run `chmod \(mode) \(path)`")
  }

  /// The read and execute bits of the group and of others without a write bit.
  private static func excess(of mode: mode_t) -> mode_t {
    (mode & 0o020 == 0 ? mode & 0o050 : 0) | (mode & 0o002 == 0 ? mode & 0o005 : 0)
  }

  /// Sets the mode of a file that was created with ``bits``. Returns false when the system refuses.
  func set(on file: Int32) -> Bool {
    isMasked || fchmod(file, bits) == 0
  }

  /// Opens a file for reading and writing. Creates a missing file; an existing file keeps its mode.
  ///
  /// - Returns: the descriptor, which the caller closes.
  func open(_ path: String) throws(QueueError) -> Int32 {
    let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW
    while true {
      let made = unsafe Glibc.open(path, flags | O_CREAT | O_EXCL, bits)
      if made >= 0 {
        guard set(on: made) else {
          let failure = SystemFailure(errno, at: path)
          close(made)
          throw failure.error
        }
        return made
      }
      guard errno == EEXIST else { throw SystemFailure(errno, at: path).error }
      let opened = unsafe Glibc.open(path, flags)
      if opened >= 0 { return opened }
      // Another process removed the file in the meantime.
      guard errno == ENOENT else { throw SystemFailure(errno, at: path).error }
    }
  }
}
