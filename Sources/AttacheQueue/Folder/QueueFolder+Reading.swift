internal import Attache
internal import Glibc

extension QueueFolder {
  /// The attributes of a file.
  struct Status {
    var isRegular: Bool
    /// In bytes.
    var size: Int64
    /// The time of the last write: seconds since 1970, and nanoseconds. Users can set any time, so
    /// no arithmetic uses it.
    var written: (seconds: Int, nanoseconds: Int)
  }

  /// The content of a file.
  enum Content {
    case missing
    /// A folder, a link, a FIFO…
    case irregular
    /// Longer than the limit.
    case tooLong
    case bytes([UInt8])
  }

  /// Returns the names in a folder, unordered. Empty when the folder does not exist. Names that
  /// begin with a dot are omitted.
  func names(in name: FileName) throws(QueueError) -> [FileName] {
    let listed = unsafe name.withPath { unsafe openat(descriptor, $0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
    guard listed >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return [] }
      throw failure(name)
    }
    do throws(SystemError) {
      return try FolderListing.names(closing: listed).filter { $0.first != UInt8(ascii: ".") }.map(FileName.init(bytes:))
    } catch {
      throw SystemFailure(error.number, at: path(of: name)).error
    }
  }

  /// Returns the attributes of a file; nil when it does not exist.
  func status(of name: FileName) -> Status? {
    var status = stat()
    guard unsafe name.withPath({ unsafe fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else { return nil }
    // Which module declares timespec depends on the imports, so its two words are read directly.
    let written = unsafe withUnsafeBytes(of: status.st_mtim) { time in
      unsafe (time.load(as: Int.self), time.load(fromByteOffset: MemoryLayout<Int>.size, as: Int.self))
    }
    return Status(isRegular: status.st_mode & S_IFMT == S_IFREG, size: Int64(status.st_size), written: written)
  }

  func has(_ name: FileName) -> Bool {
    unsafe name.withPath { unsafe faccessat(descriptor, $0, F_OK, AT_SYMLINK_NOFOLLOW) } == 0
  }

  /// Whether this process may read a file.
  func isReadable(_ name: FileName) -> Bool {
    unsafe name.withPath { unsafe faccessat(descriptor, $0, R_OK, AT_EACCESS) } == 0
  }

  /// Whether this process may change the contents of a folder.
  func isWritable(_ name: FileName) -> Bool {
    unsafe name.withPath { unsafe faccessat(descriptor, $0, W_OK | X_OK, AT_EACCESS) } == 0
  }

  /// Reads a file.
  ///
  /// - Parameter maximum: the limit in bytes. A longer file is not read.
  func content(of name: FileName, upTo maximum: Int) throws(QueueError) -> Content {
    // Without O_NONBLOCK, a FIFO without a writer would block.
    let file = unsafe name.withPath { unsafe openat(descriptor, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
    guard file >= 0 else {
      if errno == ENOENT { return .missing }
      if errno == ELOOP || errno == ENXIO { return .irregular }
      throw failure(name)
    }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { throw failure(name) }
    guard status.st_mode & S_IFMT == S_IFREG else { return .irregular }
    guard status.st_size <= maximum else { return .tooLong }
    let size = Int(status.st_size)
    var failed: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size {
        let got = unsafe read(file, buffer.baseAddress.map { unsafe $0 + count }, size - count)
        if got > 0 {
          count += got
        } else if got == 0 || errno != EINTR {
          failed = got == 0 ? 0 : errno
          break
        }
      }
    }
    guard failed == 0 else { throw SystemFailure(failed, at: path(of: name)).error }
    return .bytes(bytes)
  }
}
