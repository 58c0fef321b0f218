internal import Glibc

/// The size and type of a file, for a target where CoreFoundation imports a second `stat`.
package struct FileStatus {
  /// The size in bytes.
  package let size: Int
  package let isRegular: Bool

  /// - Throws: ``SystemError`` of `stat`.
  package init(path: String) throws(SystemError) {
    var status = stat()
    _ = try SystemError.check("stat", unsafe stat(path, &status))
    self.init(status)
  }

  /// - Throws: ``SystemError`` of `fstat`.
  package init(descriptor: Int32) throws(SystemError) {
    var status = stat()
    _ = try SystemError.check("fstat", unsafe fstat(descriptor, &status))
    self.init(status)
  }

  private init(_ status: stat) {
    (size, isRegular) = (Int(status.st_size), status.st_mode & S_IFMT == S_IFREG)
  }
}
