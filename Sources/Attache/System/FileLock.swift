internal import Glibc

/// The lock that an open file or folder may have, by flock(2): it ends when it is let go or the
/// last descriptor of that opening is closed.
package enum FileLock {
  /// Waits for the lock.
  ///
  /// - Parameter exclusively: whether nobody else may have it; else others may share it.
  package static func wait(_ descriptor: Int32, exclusively: Bool) throws(SystemError) {
    while flock(descriptor, exclusively ? LOCK_EX : LOCK_SH) != 0 {
      guard errno == EINTR else { throw SystemError(call: "flock", number: errno) }
    }
  }
}
