import Glibc

/// What tells a file from all others, whatever its names.
struct FileIdentity: Equatable {
  private let device: UInt64
  private let number: UInt64

  /// - Returns: nil for what is no regular file, or not there.
  init?(path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// - Returns: nil for what is no regular file.
  init?(descriptor: Int32) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  private init?(_ status: stat) {
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino))
  }
}
