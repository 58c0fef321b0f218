internal import Glibc

/// A lock on an open file or folder, by flock(2). The lock ends when it is released, or when the
/// last descriptor of that open file description is closed.
///
/// Whoever can open a file, even for reading alone, can hold its lock. So the files and folders that
/// attache locks can be opened only by those who may write beside them.
package enum FileLock {
  /// Why a lock was not acquired.
  package enum Failure: Error, Hashable, Sendable {
    case system(SystemError)
    /// The wait is over (``LockWaits/limit``). The sentence names the holder.
    case held(String)
  }

  /// Waits until the lock is acquired.
  ///
  /// - Parameters:
  ///   - exclusively: true for an exclusive lock, false for a shared one.
  ///   - path: the path of the file, for messages.
  ///   - waits: limits and reports the wait.
  package static func wait(
    _ descriptor: Int32, exclusively: Bool, path: @autoclosure () -> String, waits: LockWaits = .process
  ) throws(Failure) {
    var wait: LockWait?
    while flock(descriptor, (exclusively ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      guard errno == EWOULDBLOCK else { throw .system(SystemError(call: "flock", number: errno)) }
      let current = wait ?? LockWait(waits, for: path())
      wait = current
      guard current.pause({ LockHolder.description(ofLockOn: descriptor) }) else { throw .held(current.failure) }
    }
  }
}
