import Attache
import Glibc

/// The file that a batch writes: it appears under its name when it is whole, and is another one until then.
///
/// One process at a time writes it: what it is written to is locked for as long as this object lives.
@safe
final class BatchFile {
  let descriptor: Int32
  private let path: String
  private let partial: String

  /// - Parameter path: of the file; nil is standard output.
  /// - Throws: ``SystemError``; EWOULDBLOCK when another batch writes it.
  init(_ path: String) throws(SystemError) {
    self.path = path
    partial = path + ".attache-part"
    let opened = unsafe open(partial, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
    guard opened >= 0 else { throw SystemError(call: "open", number: errno) }
    guard flock(opened, LOCK_EX | LOCK_NB) == 0, ftruncate(opened, 0) == 0 else {
      let number = errno
      close(opened)
      throw SystemError(call: "lock", number: number)
    }
    descriptor = opened
  }

  deinit {
    close(descriptor)
  }

  /// Gives the file its name, once it is on disk.
  func finish() throws(SystemError) {
    guard fsync(descriptor) == 0 else { throw SystemError(call: "fsync", number: errno) }
    guard unsafe rename(partial, path) == 0 else { throw SystemError(call: "rename", number: errno) }
  }

  /// Removes what is not whole.
  func discard() {
    unsafe unlink(partial)
  }
}
