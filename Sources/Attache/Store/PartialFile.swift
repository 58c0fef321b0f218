internal import Glibc

/// A file that is being written to the store; its hash is taken on the way.
///
/// It has one owner, who appends to it and then finishes it. Until it is finished it is a temporary
/// file that nobody else sees, and that goes away with this object.
public final class PartialFile {
  private let store: AttachmentStore
  private let name: String
  /// -1 once the file is finished or discarded.
  private var descriptor: Int32
  private var hash = SHA256()
  /// The bytes that have been appended.
  public private(set) var size = 0

  init(in store: AttachmentStore, name: String) throws(StoreError) {
    self.store = store
    self.name = name
    descriptor = try store.temporary.folder.createFile(name, mode: store.fileMode)
    // The umask took bits away from the mode, or a default ACL did.
    if store.setsFileMode && fchmod(descriptor, store.fileMode) != 0 { throw failure("set the mode of") }
  }

  deinit {
    discard()
  }

  /// Appends bytes. When that fails the file is discarded at once, and with it the room that it
  /// took.
  public func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    try unsafe write(bytes)
    unsafe hash.update(bytes)
  }

  /// Appends bytes whose hash the caller takes.
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

  /// Appends bytes. When that fails the file is discarded at once, and with it the room that it
  /// took.
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

  /// Forgets what was appended, for a body that starts again.
  public func reset() throws(StoreError) {
    guard descriptor >= 0 else { throw StoreError("write", path, code: EBADF) }
    guard ftruncate(descriptor, 0) == 0 else { throw failure("empty") }
    hash = SHA256()
    size = 0
  }

  /// Gives the file its name in the store. When this throws, the file is discarded.
  ///
  /// A file with the same content that is there already is kept, and used from now on.
  ///
  /// - Parameter type: what the bytes are.
  /// - Returns: the stored file, pinned once: unpin it when the line it was fetched for is written.
  public func finish(type: MediaType) throws(StoreError) -> StoredFile {
    let name = StoreName(digest: hash.finish(), type: type)
    guard descriptor < 0 || !store.pinIfThere(name, size: size) else {
      discard()
      return StoredFile(name, size: size)
    }
    return try finish(as: name)
  }

  /// Gives the file a name that the store had not when it was last looked for.
  func finish(as name: StoreName) throws(StoreError) -> StoredFile {
    guard descriptor >= 0 else { throw StoreError("write", path, code: EBADF) }
    // A caller that needs the file to outlast a power failure syncs it afterwards
    // (AttachmentStore.sync).
    let closing = descriptor
    descriptor = -1
    // Linux has closed the file even when it says EINTR.
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

  /// Removes the file; does nothing once it is finished or discarded.
  public func discard() {
    guard descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
    remove()
  }

  private func remove() {
    store.temporary.folder.removeFile(name)
  }

  /// The error of the call that just failed, after which the file is discarded.
  private func failure(_ action: String, code: Int32 = errno) -> StoreError {
    let error = StoreError(action, path, code: code)
    discard()
    return error
  }

  private var path: String {
    store.temporary.folder.path(of: name)
  }
}
