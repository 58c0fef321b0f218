import Attache
import Glibc

/// The output file of a batch. It gets its name when it is whole; until then the data is in a part
/// file.
///
/// One process at a time writes it: the part file is locked for the lifetime of this object. A pipe
/// or a device is written to directly.
@safe
final class BatchFile {
  let descriptor: Int32
  private let path: String
  /// The path of the part file; nil for a pipe or a device.
  private let partial: String?

  /// Opens the output, or its part file, which it locks.
  ///
  /// - Throws: ``SystemError``; EWOULDBLOCK when another batch writes the file.
  init(_ path: String) throws(SystemError) {
    var status = stat()
    let isThere = unsafe stat(path, &status) == 0
    if isThere, status.st_mode & S_IFMT != S_IFREG {
      // Opening a folder fails here, before any work.
      descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw SystemError(call: "open", number: errno) }
      (self.path, partial) = (path, nil)
      return
    }
    self.path = isThere ? Self.resolved(path) : path
    let partial = Self.part(of: self.path)
    descriptor = try Self.locked(partial)
    self.partial = partial
    // The new file keeps the mode of the file that it replaces.
    if isThere { fchmod(descriptor, status.st_mode & 0o7777) }
    guard ftruncate(descriptor, 0) == 0 else { throw SystemError(call: "truncate", number: errno) }
  }

  /// Returns the path of the part file of an output.
  static func part(of path: String) -> String { path + ".attache-part" }

  deinit {
    close(descriptor)
  }

  /// Syncs the part file to disk and renames it to its final name.
  func finish() throws(SystemError) {
    guard let partial else { return }
    guard fsync(descriptor) == 0 else { throw SystemError(call: "fsync", number: errno) }
    guard unsafe rename(partial, path) == 0 else { throw SystemError(call: "rename", number: errno) }
  }

  /// Returns the path with links resolved, so that the links are kept.
  private static func resolved(_ path: String) -> String {
    guard let name = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(name) }
    return unsafe String(cString: name)
  }

  /// Opens and locks the part file, and checks that it still has its name. Another batch may have
  /// ended between the two steps, and its output must not be touched.
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
