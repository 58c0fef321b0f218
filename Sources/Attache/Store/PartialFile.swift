internal import Glibc

/// A file that is being written to the store. Its hash is computed while it is written.
///
/// It has one owner, which appends bytes and then finishes the file. Until then it is a temporary
/// file that no other code sees. Releasing this object discards an unfinished file.
public final class PartialFile {
  private let store: AttachmentStore
  private let name: String
  /// -1 once the file is finished or discarded.
  private var descriptor: Int32
  private var hash = SHA256()
  /// The number of bytes that have been appended.
  public private(set) var size = 0

  init(in store: AttachmentStore, name: String) throws(StoreError) {
    self.store = store
    self.name = name
    descriptor = try store.temporary.folder.createFile(name, mode: store.fileMode)
    // The umask or a default ACL removed bits from the mode.
    if store.setsFileMode && fchmod(descriptor, store.fileMode) != 0 { throw failure("set the mode of") }
  }

  deinit {
    discard()
  }

  /// The hash of the bytes that have been appended.
  var digest: SHA256.Digest {
    var hash = hash
    return hash.finish()
  }

  /// Appends bytes. If this fails, the file is discarded at once, which frees its space.
  ///
  /// - Throws: ``StoreError`` when the bytes cannot be written.
  public func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    try unsafe write(bytes)
    unsafe hash.update(bytes)
  }

  /// Appends bytes without hashing them. The caller computes the hash.
  func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    guard descriptor >= 0 else { throw StoreError("write", path, code: EBADF) }
    var rest = unsafe bytes
    while let start = rest.baseAddress, unsafe !rest.isEmpty {
      let written = unsafe pwrite(descriptor, start, rest.count, off_t(size + bytes.count - rest.count))
      if written > 0 {
        unsafe rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
      } else if written == 0 || errno != EINTR {
        throw failure("write", code: written == 0 ? EIO : errno)
      }
    }
    size += bytes.count
  }

  /// Appends bytes. If this fails, the file is discarded at once, which frees its space.
  ///
  /// - Throws: ``StoreError`` when the bytes cannot be written.
  public func append(_ bytes: [UInt8]) throws(StoreError) {
    let result: Result<Void, StoreError> = unsafe bytes.withUnsafeBytes { bytes in
      do throws(StoreError) {
        return .success(unsafe try append(bytes))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  /// Opens the file for another process, which may only read it.
  ///
  /// - Returns: a descriptor that belongs to the caller.
  /// - Throws: ``StoreError`` when the file cannot be opened.
  func openToRead() throws(StoreError) -> Int32 {
    let opened = unsafe openat(store.temporary.folder.descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard opened >= 0 else { throw StoreError("open", path) }
    return opened
  }

  /// Gives the file its name in the store. If this throws, the file is discarded.
  ///
  /// If the store already has a file with the same content, that file is kept and used.
  ///
  /// - Parameter type: the type of the content.
  /// - Returns: the stored file, pinned once. Unpin it after writing the line that it was fetched
  ///   for.
  /// - Throws: ``StoreError`` when the file cannot be closed or renamed.
  public func finish(type: MediaType) throws(StoreError) -> StoredFile {
    let name = StoreName(digest: hash.finish(), type: type)
    guard descriptor < 0 || !store.pinIfThere(name, size: size) else {
      discard()
      return StoredFile(name, size: size)
    }
    return try finish(as: name)
  }

  /// Gives the file a name that the store did not have when it was last checked.
  func finish(as name: StoreName) throws(StoreError) -> StoredFile {
    guard descriptor >= 0 else { throw StoreError("write", path, code: EBADF) }
    // A caller that needs the file to survive a power failure syncs it afterwards
    // (AttachmentStore.sync).
    let closing = descriptor
    descriptor = -1
    // Linux closes the file even when it returns EINTR.
    guard close(closing) == 0 || errno == EINTR else {
      let error = StoreError("close", path)
      remove()
      throw error
    }
    do {
      try store.place(self.name, as: name, size: size)
    } catch {
      remove()
      throw error
    }
    return StoredFile(name, size: size)
  }

  /// Removes the file. Does nothing once the file is finished or discarded.
  public func discard() {
    guard descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
    remove()
  }

  private func remove() {
    store.temporary.folder.removeFile(name)
  }

  /// Returns the error of the system call that just failed, and discards the file.
  private func failure(_ action: String, code: Int32 = errno) -> StoreError {
    let error = StoreError(action, path, code: code)
    discard()
    return error
  }

  private var path: String {
    store.temporary.folder.path(of: name)
  }
}
