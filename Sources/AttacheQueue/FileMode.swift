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
