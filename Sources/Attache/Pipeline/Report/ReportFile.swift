internal import Glibc

/// The file of a report.
package enum ReportFile {
  /// Opens the file, which is created or truncated. The caller closes it.
  ///
  /// A file that is already open is shared instead: the path of a descriptor (`/dev/stderr`,
  /// `/dev/fd/3`), and the file that standard error writes to. Records then follow the existing
  /// contents, and neither writer overwrites the other.
  ///
  /// - Throws: ``SystemError`` of `open` or `dup`.
  package static func open(_ path: String) throws(SystemError) -> Int32 {
    if let shared = sharedDescriptor(path) {
      return try SystemError.check("dup", fcntl(shared, F_DUPFD_CLOEXEC, STDERR_FILENO + 1))
    }
    return try SystemError.check("open", unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666))
  }

  private static func sharedDescriptor(_ path: String) -> Int32? {
    switch path {
    case "/dev/stdout": return STDOUT_FILENO
    case "/dev/stderr": return STDERR_FILENO
    default: break
    }
    for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
      if let number = Int32(path.dropFirst(folder.count)), number >= 0 { return number }
    }
    guard let file = FileIdentity(path: path), file == FileIdentity(descriptor: STDERR_FILENO) else { return nil }
    return STDERR_FILENO
  }
}
