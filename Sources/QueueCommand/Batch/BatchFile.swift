import Attache
import Glibc

/// The file that a batch writes: it appears under its name when it is whole, and is another one
/// until then.
///
/// One process at a time writes it: what it is written to is locked for as long as this object
/// lives. A pipe or a device is written as it stands.
@safe
final class BatchFile {
  let descriptor: Int32
  private let path: String
  /// What is written until the file is whole; nil for a pipe or a device.
  private let partial: String?

  /// - Throws: ``SystemError``; EWOULDBLOCK when another batch writes it.
  init(_ path: String) throws(SystemError) {
    var status = stat()
    let isThere = unsafe stat(path, &status) == 0
    if isThere, status.st_mode & S_IFMT != S_IFREG {
      // What is a folder is refused here, before any work.
      descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw SystemError(call: "open", number: errno) }
      (self.path, partial) = (path, nil)
      return
    }
    self.path = isThere ? Self.resolved(path) : path
    let partial = Self.part(of: self.path)
    descriptor = try Self.locked(partial)
    self.partial = partial
    // What it replaces keeps its mode.
    if isThere { fchmod(descriptor, status.st_mode & 0o7777) }
    guard ftruncate(descriptor, 0) == 0 else { throw SystemError(call: "truncate", number: errno) }
  }

  /// What an output is written to until it is whole.
  static func part(of path: String) -> String { path + ".attache-part" }

  deinit {
    close(descriptor)
  }

  /// Gives the file its name, once it is on disk.
  func finish() throws(SystemError) {
    guard let partial else { return }
    guard fsync(descriptor) == 0 else { throw SystemError(call: "fsync", number: errno) }
    guard unsafe rename(partial, path) == 0 else { throw SystemError(call: "rename", number: errno) }
  }

  /// The path behind links, so that they stay.
  private static func resolved(_ path: String) -> String {
    guard let name = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(name) }
    return unsafe String(cString: name)
  }

  /// Opens and locks a file that still has its name: between the two another batch may have ended,
  /// and what it wrote is not to be touched.
  private static func locked(_ path: String) throws(SystemError) -> Int32 {
    while true {
      let opened = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
      guard opened >= 0 else { throw SystemError(call: "open", number: errno) }
      guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
        let number = errno
        close(opened)
        throw SystemError(call: "lock", number: number)
      }
      if FileIdentity(descriptor: opened) == FileIdentity(path: path) { return opened }
      close(opened)
    }
  }
}
