internal import Glibc
internal import Synchronization

/// Opening a store.
extension AttachmentStore {
  /// Opens the folder, and creates it if it does not exist.
  static func openRoot(_ directory: String) throws(StoreError) -> StoreFolder {
    do {
      return try StoreFolder(at: directory)
    } catch let error where error.call.code == ENOENT {
      try StoreFolder.make(at: directory, mode: 0o700)
      return try StoreFolder(at: directory)
    }
  }

  /// Checks that files and folders can be created and that there is space, by writing one byte.
  ///
  /// - Returns: the mode that a new file gets.
  static func probe(_ folder: StoreFolder, root: StoreFolder, mode: mode_t) throws(StoreError) -> mode_t {
    guard unsafe faccessat(root.descriptor, ".", W_OK | X_OK, AT_EACCESS) == 0 else { throw StoreError("write", root.path) }
    let probe = "0"
    let descriptor = try folder.createFile(probe, mode: mode)
    defer {
      close(descriptor)
      folder.removeFile(probe)
    }
    var byte: UInt8 = 0
    var status = stat()
    guard unsafe write(descriptor, &byte, 1) == 1 else { throw StoreError("write", folder.path(of: probe)) }
    guard unsafe fstat(descriptor, &status) == 0 else { throw StoreError("read the mode of", folder.path(of: probe)) }
    return status.st_mode & 0o7777
  }

  /// Checks after a failure that files can be written again: creates a file of 64 KiB and removes
  /// it.
  package func probe() throws(StoreError) {
    let name = "\(ledger.withLock { $0.nextNumber() })"
    let descriptor = try temporary.folder.createFile(name, mode: fileMode)
    defer {
      close(descriptor)
      temporary.folder.removeFile(name)
    }
    let bytes = [UInt8](repeating: 0, count: 64 << 10)
    let written = unsafe write(descriptor, bytes, bytes.count)
    guard written == bytes.count else {
      // A short write does not set errno. It means that the disk is full.
      throw StoreError("write", temporary.folder.path(of: name), code: written < 0 ? errno : ENOSPC)
    }
  }

  /// Returns the absolute `file:` URL of a folder, without symbolic links and with a trailing
  /// slash.
  static func fileURL(ofFolder directory: String) throws(StoreError) -> String {
    guard let real = unsafe realpath(directory, nil) else { throw StoreError("find", directory) }
    defer { unsafe free(real) }
    let path = unsafe UnsafeBufferPointer(start: real, count: strlen(real))
    return fileURL(ofPath: unsafe path.map { UInt8(bitPattern: $0) })
  }

  /// Returns the `file:` URL of an absolute path, with a trailing slash.
  static func fileURL(ofPath path: some Sequence<UInt8>) -> String {
    let encoded = path.map(percentEncoded).joined()
    return "file://" + (encoded.hasSuffix("/") ? encoded : encoded + "/")
  }

  /// Percent-encodes a byte of a path, except for the slash and the unreserved characters of RFC
  /// 3986.
  private static func percentEncoded(_ byte: UInt8) -> String {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "/"):
      String(UnicodeScalar(byte))
    default:
      (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
    }
  }
}

/// Operations on a file by name.
extension StoreFolder {
  /// Sets the last use of a file to now, unless it was in the minute before. Returns false when there
  /// is no regular file of this name and size. For another user's file the time does not change.
  ///
  /// A confined process may not set a time by path.
  func touch(_ name: String, size: Int64, now: Duration) -> Bool {
    func status() -> StoreStatus? {
      self.status(of: name).flatMap { $0.isRegular && $0.size == size ? $0 : nil }
    }
    guard let lastUse = status()?.lastUse else { return false }
    guard lastUse > now || now - lastUse > StoreEviction.precision else { return true }
    let file = unsafe openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    if file >= 0 {
      futimens(file, nil)
      close(file)
    }
    // Looked up after the time is set: a process that removes the file after this sees the new time.
    return status() != nil
  }

  /// Moves a file here from another folder. If another process has put a file here in the meantime,
  /// it is replaced by an identical one.
  func adopt(_ source: String, from folder: StoreFolder, as name: String) throws(StoreError) {
    guard unsafe renameat(folder.descriptor, source, descriptor, name) == 0 else { throw StoreError("create", path(of: name)) }
  }
}
