internal import Glibc

/// The folder of a queue, held open: everything in it is reached by a path within it.
final class QueueFolder: Sendable {
  let descriptor: Int32
  /// Without symbolic links.
  let path: String
  /// The permission bits of the folder; those within it get the same, and files those without the right to execute.
  let mode: mode_t

  /// What is known of a file.
  struct Status {
    var isRegular: Bool
    /// Bytes.
    var size: Int
    /// When it was last written, in nanoseconds since 1970.
    var written: Int
  }

  init(at path: String) throws(QueueError) {
    guard let resolved = unsafe realpath(path, nil) else { throw SystemFailure(errno, at: path).error }
    defer { unsafe free(resolved) }
    self.path = unsafe String(cString: resolved)
    let opened = unsafe open(self.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard opened >= 0 else { throw SystemFailure(errno, at: path).error }
    descriptor = opened
    var status = stat()
    unsafe fstat(opened, &status)
    mode = status.st_mode & 0o7777
  }

  deinit {
    close(descriptor)
  }

  func path(of name: String) -> String { "\(path)/\(name)" }

  private func failure(_ name: String) -> QueueError { SystemFailure(errno, at: path(of: name)).error }

  // MARK: Looking

  /// The names in a folder, in no order; none where there is no such folder. Names that are no UTF-8 are nobody's.
  func names(in name: String) throws(QueueError) -> [String] {
    let listed = unsafe openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard listed >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return [] }
      throw failure(name)
    }
    guard let stream = unsafe fdopendir(listed) else {
      defer { close(listed) }
      throw failure(name)
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    // The name is read in place: an entry is shorter than its C declaration.
    let offset = MemoryLayout<dirent>.offset(of: \dirent.d_name) ?? 0
    while let entry = unsafe readdir(stream) {
      let name = unsafe UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
      // What begins with a dot is nobody's payload, nor the queue's own.
      if unsafe name[0] != CChar(UInt8(ascii: ".")) { names.append(unsafe String(cString: name)) }
    }
    return names
  }

  /// What is known of a file; nil where there is none.
  func status(of name: String) -> Status? {
    var status = stat()
    guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    // Whose struct timespec is depends on what else is imported: it is two words.
    let written = unsafe withUnsafeBytes(of: status.st_mtim) { time in
      unsafe time.load(as: Int.self) * 1_000_000_000 + time.load(fromByteOffset: MemoryLayout<Int>.size, as: Int.self)
    }
    return Status(isRegular: status.st_mode & S_IFMT == S_IFREG, size: Int(status.st_size), written: written)
  }

  func has(_ name: String) -> Bool {
    unsafe faccessat(descriptor, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0
  }

  /// The bytes of a file; nil where there is none.
  func bytes(of name: String) throws(QueueError) -> [UInt8]? {
    let file = unsafe openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw failure(name)
    }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { throw failure(name) }
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
    return bytes
  }

  // MARK: Changing

  /// Gives a file another name in the place of what bears it; the folder is made where it is missing.
  ///
  /// - Returns: false when there is no such file.
  @discardableResult
  func move(_ name: String, to newName: String) throws(QueueError) -> Bool {
    try inFolder(of: newName) {
      unsafe renameat(descriptor, name, descriptor, newName)
    } hasNone: {
      !has(name)
    }
  }

  /// Gives a file a second name; what bears it already stays.
  @discardableResult
  func link(_ name: String, to newName: String) throws(QueueError) -> Bool {
    try inFolder(of: newName) {
      unsafe linkat(descriptor, name, descriptor, newName, 0)
    } hasNone: {
      !has(name)
    }
  }

  /// Makes an empty file; what bears the name already stays.
  func make(_ name: String) throws(QueueError) {
    try inFolder(of: name) {
      unsafe mknodat(descriptor, name, S_IFREG | mode & 0o666, 0)
    } hasNone: {
      false
    }
  }

  @discardableResult
  private func inFolder(of name: String, _ call: () -> Int32, hasNone: () -> Bool) throws(QueueError) -> Bool {
    while call() != 0 {
      switch errno {
      case EEXIST: return true
      case ENOENT:
        guard !hasNone() else { return false }
        guard let slash = name.lastIndex(of: "/"), try makeFolder(String(name[..<slash])) else { throw failure(name) }
      default: throw failure(name)
      }
    }
    return true
  }

  /// Makes a folder, and those above it.
  ///
  /// - Returns: false when it was there.
  @discardableResult
  func makeFolder(_ name: String) throws(QueueError) -> Bool {
    while unsafe mkdirat(descriptor, name, mode) != 0 {
      if errno == EEXIST { return false }
      guard errno == ENOENT, let slash = name.lastIndex(of: "/"), try makeFolder(String(name[..<slash])) else { throw failure(name) }
    }
    // The umask has no say, nor a set-group-ID bit that is lost.
    unsafe fchmodat(descriptor, name, mode, 0)
    return true
  }

  /// Writes a file, in the place of what there is.
  func write(_ bytes: [UInt8], to name: String) throws(QueueError) {
    let file = unsafe openat(descriptor, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode & 0o666)
    guard file >= 0 else { throw failure(name) }
    defer { close(file) }
    fchmod(file, mode & 0o666)
    var start = 0
    while start < bytes.count {
      let written = unsafe bytes.withUnsafeBytes { bytes in
        unsafe Glibc.write(file, bytes.baseAddress.map { unsafe $0 + start }, bytes.count - start)
      }
      if written > 0 { start += written } else if written == 0 || errno != EINTR { throw failure(name) }
    }
  }

  /// Removes a file; one that is not there is no error.
  func remove(_ name: String) throws(QueueError) {
    guard unsafe unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else { throw failure(name) }
  }

  /// Removes a folder if it is empty.
  ///
  /// - Returns: whether there is none of that name any more.
  @discardableResult
  func removeFolder(_ name: String) -> Bool {
    unsafe unlinkat(descriptor, name, AT_REMOVEDIR) == 0 || errno == ENOENT
  }
}
