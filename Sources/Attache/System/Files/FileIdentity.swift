internal import Glibc

/// Identifies a regular file by its device and inode number, independently of its path.
package struct FileIdentity: Equatable {
  private let device: UInt64
  private let number: UInt64

  /// - Returns: nil when the path does not exist or is not a regular file.
  package init?(path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// - Returns: nil when the descriptor is not of a regular file.
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
