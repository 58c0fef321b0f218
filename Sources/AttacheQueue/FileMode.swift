internal import Glibc

/// The permissions of a queue's files: those of its folder, so that a folder that a group shares
/// has a queue that the group shares.
package struct FileMode: Sendable {
  let bits: mode_t
  /// Whether the process's mask takes bits away.
  private let isMasked: Bool

  /// 0644 less the mask, where there is no folder to follow.
  package static let usual = FileMode(bits: 0o644, isMasked: true)

  private init(bits: mode_t, isMasked: Bool) {
    (self.bits, self.isMasked) = (bits, isMasked)
  }

  /// The mode of files in a folder: its own, without the right to execute, whatever the mask. In a
  /// sticky folder, such as /tmp, files belong to their makers, and the mode is the usual one.
  init(inFolder path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      self = .usual
      return
    }
    self.init(inFolderOf: status.st_mode)
  }

  /// The mode of files in a folder of a mode.
  init(inFolderOf mode: mode_t) {
    // A file's owner always may.
    self = mode & S_ISVTX == 0 ? FileMode(bits: mode & 0o666 | 0o600, isMasked: false) : .usual
  }

  /// Gives a file that was made with ``bits`` its mode; false when that is refused.
  func set(on file: Int32) -> Bool {
    isMasked || fchmod(file, bits) == 0
  }

  /// Opens a file for reading and writing, and makes it where it is missing. The mode of one that
  /// is there stays.
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
      // Another process has removed it meanwhile.
      guard errno == ENOENT else { throw SystemFailure(errno, at: path).error }
    }
  }
}
