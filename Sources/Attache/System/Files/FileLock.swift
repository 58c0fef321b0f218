internal import Glibc

/// A lock on an open file or folder, by flock(2). The lock ends when it is released, or when the
/// last descriptor of that open file description is closed.
package enum FileLock {
  /// Waits until the lock is acquired.
  ///
  /// - Parameter exclusively: true for an exclusive lock, false for a shared one.
  /// - Throws: ``SystemError`` of `flock`.
  package static func wait(_ descriptor: Int32, exclusively: Bool) throws(SystemError) {
    while flock(descriptor, exclusively ? LOCK_EX : LOCK_SH) != 0 {
      guard errno == EINTR else { throw SystemError(call: "flock", number: errno) }
    }
  }
}
