internal import Crypto
internal import Glibc

/// The folder of a queue's hard links, `.held/<name>` in the store, with a file `queue` that says where the queue is.
///
/// Whoever changes it has its lock (`flock`), shared to add links and alone to remove them.
struct StoreHolds {
  let folder: StoreFolder
  /// The first 32 hexadecimal digits of the SHA-256 of the queue's kind and absolute path.
  let name: String

  static let parentName = ".held"
  private static let queueFile = "queue"
  /// Links that one prune removes at most, so that its time is bounded.
  private static let portion = 10_000

  /// Opens the folder of a queue, and makes it first if it is not there.
  init(of queue: String, in store: AttachmentStore) throws(StoreError) {
    let (kind, path) = Self.parts(of: queue)
    name = SHA256.hash(data: Array("\(kind):\(path)".utf8)).prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let parent = try store.root.folderMade(Self.parentName)
    // A prune may take a folder away that was left by an earlier queue of this path.
    for _ in 0..<100 {
      let folder = try parent.folderMade(name)
      try folder.lock(exclusively: false)
      if let status = folder.status, status.isSameFile(as: parent.status(of: name)) {
        if folder.status(of: Self.queueFile) == nil { try store.create(Self.queueFile, of: Array(path.utf8), in: folder) }
        self.folder = folder
        return
      }
    }
    throw StoreError("lock", parent.path(of: name), code: EBUSY)
  }

  /// The kind and the path of a queue; the path is absolute, so that it means the same to each process.
  private static func parts(of queue: String) -> (kind: Substring, path: String) {
    let parts = queue.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false).map(Substring.init)
    let (kind, path) = parts.count == 2 ? (parts[0], String(parts[1])) : ("", queue)
    if let real = unsafe realpath(path, nil) {
      defer { unsafe free(real) }
      return unsafe (kind, String(cString: real))
    }
    guard path.utf8.first != UInt8(ascii: "/"), let folder = unsafe getcwd(nil, 0) else { return (kind, path) }
    defer { unsafe free(folder) }
    return unsafe (kind, String(cString: folder) + "/" + path)
  }

  /// Removes the holds of queues that are gone; what cannot be removed stays until another time.
  static func sweep(_ root: StoreFolder) {
    guard let parent = try? root.folder(parentName), let names = try? parent.names() else { return }
    var budget = portion
    for name in names where name.utf8.count == 32 && budget > 0 {
      guard let folder = try? parent.folder(name), (try? folder.tryLock()) == true else { continue }
      guard let path = folder.text(of: queueFile) else {
        parent.removeFolder(name)
        continue
      }
      guard isGone(path), let files = try? folder.names() else { continue }
      for file in files where StoreName(folder: String(file.prefix(2)), fileName: file) != nil && budget > 0 {
        budget -= 1
        folder.removeFile(file)
      }
      guard let rest = try? folder.names(), rest == [queueFile] else { continue }
      folder.removeFile(queueFile)
      parent.removeFolder(name)
    }
  }

  private static func isGone(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
  }
}

extension StoreFolder {
  /// Waits for this folder's lock, and has it for as long as this object lives.
  func lock(exclusively: Bool) throws(StoreError) {
    while flock(descriptor, exclusively ? LOCK_EX : LOCK_SH) != 0 {
      guard errno == EINTR else { throw StoreError("lock", path) }
    }
  }

  /// What stands in a small file, a path at most; nil when there is none.
  fileprivate func text(of name: String) -> String? {
    let file = unsafe openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 2 * Int(PATH_MAX))
    let count = unsafe read(file, &bytes, bytes.count)
    return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
  }
}
