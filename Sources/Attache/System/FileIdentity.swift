internal import Glibc

/// What tells a regular file from all others, whatever its names.
package struct FileIdentity: Equatable {
  private let device: UInt64
  private let number: UInt64

  /// - Returns: nil for what is no regular file, or not there.
  package init?(path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// - Returns: nil for what is no regular file.
  package init?(descriptor: Int32) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  private init?(_ status: stat) {
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino))
  }
}
