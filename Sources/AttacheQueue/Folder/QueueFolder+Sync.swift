internal import CLinux
internal import Glibc

extension QueueFolder {
  /// Returns when all that was changed is on disk: syncfs(2), one call for any number of files and names. It writes what others have changed on that file
  /// system too.
  func sync() throws(QueueError) {
    guard linux_syncfs(descriptor) == 0 else { throw SystemFailure(errno, at: path).error }
  }
}
