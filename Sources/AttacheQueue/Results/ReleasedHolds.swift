package import Attache
internal import Glibc

/// Removes the links with which a queue held attachments, after no result uses them.
///
/// A link is removed under the lock of its folder. Workers share this lock from before they take a
/// hold until their result is in the queue. The known folders are locked before the queue is asked,
/// so no worker takes a hold between its release and its removal.
package final class ReleasedHolds {
  /// The descriptors of the folders by path.
  private var folders: [String: Int32] = [:]
  private let queue: any HoldListing
  /// Receives the first link that cannot be removed, for example because the user cannot write to
  /// the store. The next start of a worker removes it.
  package var onFailure: (_ path: String, _ error: SystemError) -> Void = { _, _ in }
  private var hasFailed = false
  /// The number of links that are compared with the queue under one lock.
  private static let portion = 1_000

  /// - Parameters:
  ///   - queue: releases the links. The folder of its current holds becomes known.
  ///   - folder: another folder of the queue's holds.
  package init(of queue: any HoldListing, in folder: String? = nil) throws(QueueError) {
    self.queue = queue
    if let folder { _ = opened(folder) }
    if let path = try queue.anyHold(), let (parent, _) = Self.parts(of: path) { _ = opened(parent) }
  }

  deinit {
    for folder in folders.values { close(folder) }
  }

  /// Releases links in the queue, and removes them.
  ///
  /// - Parameter release: releases the links and returns their paths.
  /// - Throws: ``QueueError/locked(_:)`` when another process holds the lock of a folder for too
  ///   long; the error of `release`.
  package func remove(_ release: () throws(QueueError) -> [String]) throws(QueueError) {
    let others = try removeKnown(release)
    // Locked while no other folder is, so that two processes do not deadlock.
    for path in others {
      guard let (parent, name) = Self.parts(of: path) else { continue }
      guard let folder = opened(parent) else {
        if errno == EACCES { fail(path, SystemError(call: "open", number: errno)) }
        continue
      }
      try Self.lock(folder, at: parent)
      unlink(path, name, in: folder)
      flock(folder, LOCK_UN)
    }
  }

  /// Removes the released links in the known folders.
  ///
  /// - Returns: the links in other folders.
  private func removeKnown(_ release: () throws(QueueError) -> [String]) throws(QueueError) -> [String] {
    // Sorted, so that two processes do not deadlock.
    let known = folders.sorted { $0.key < $1.key }
    defer { for (_, folder) in known { flock(folder, LOCK_UN) } }
    for (path, folder) in known { try Self.lock(folder, at: path) }
    var others: [String] = []
    for path in try release() {
      guard let (parent, name) = Self.parts(of: path) else { continue }
      if let folder = folders[parent] { unlink(path, name, in: folder) } else { others.append(path) }
    }
    return others
  }

  private func unlink(_ path: String, _ name: String, in folder: Int32) {
    if unsafe unlinkat(folder, name, 0) != 0, errno != ENOENT { fail(path, SystemError(call: "unlink", number: errno)) }
  }

  private func fail(_ path: String, _ error: SystemError) {
    guard !hasFailed else { return }
    hasFailed = true
    onFailure(path, error)
  }

  /// Removes links that no result uses, such as those of a worker that was killed before its result
  /// was in the queue.
  ///
  /// - Parameter location: the queue's. Folders that may belong to another queue are skipped: a
  ///   copy of a queue lists the holds of the original, and a queue at the same path in another
  ///   container does not know them. ``AttachmentStore/prune()`` removes the links in a skipped
  ///   folder when their queue is gone.
  /// - Returns: the number of links removed.
  @discardableResult
  package func removeUnlisted(of location: QueueLocation) throws(QueueError) -> Int {
    guard let owner = location.holdOwner else { return 0 }
    var count = 0
    for (path, folder) in folders where AttachmentStore.isHoldsFolder(path, of: owner) {
      var names = Self.links(in: folder)[...]
      while !names.isEmpty {
        let portion = names.prefix(Self.portion).map { "\(path)/\($0)" }
        names = names.dropFirst(portion.count)
        let unlisted = try queue.unlistedHolds(portion)
        guard !unlisted.isEmpty else { continue }
        // The queue is asked again under the lock: a worker may have taken a hold and finished
        // since.
        try remove { () throws(QueueError) in
          let unlisted = try queue.unlistedHolds(unlisted)
          count += unlisted.count
          return unlisted
        }
      }
    }
    return count
  }

  /// The names of the links in a folder. Names of the store's files contain a dot; the folder's own
  /// files have none.
  private static func links(in folder: Int32) -> [String] {
    let listed = unsafe openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard listed >= 0, let names = try? FolderListing.names(closing: listed) else { return [] }
    let dot = UInt8(ascii: ".")
    return names.filter { $0.contains(dot) && $0.first != dot }.map { String(decoding: $0, as: UTF8.self) }
  }

  private func opened(_ path: String) -> Int32? {
    if let folder = folders[path] { return folder }
    let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard folder >= 0 else { return nil }
    folders[path] = folder
    return folder
  }

  /// Locks a folder exclusively. ``HoldsTurn`` makes workers that share the lock one after another
  /// wait for this process.
  private static func lock(_ folder: Int32, at path: String) throws(QueueError) {
    do throws(StoreError) {
      let turn = try HoldsTurn.alone(in: folder, at: path)
      defer { withExtendedLifetime(turn) {} }
      try FileLock.acquire(folder, exclusively: true, path: path)
    } catch {
      throw .locked("\(error)")
    }
  }

  /// Splits the path of a link, `…/.held/FOLDER/NAME`, into its folder and its name. Returns nil
  /// for any other path: the content of a queue is not trusted.
  private static func parts(of path: String) -> (folder: String, name: String)? {
    guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else { return nil }
    // The path is split by bytes, as the system reads it. In a Swift string, a slash with a
    // combining mark after it is another character.
    let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
    let areSteps = parts.contains { part in part.isEmpty || part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8) }
    guard parts.count >= 3, !areSteps, parts[parts.endIndex - 3].elementsEqual(".held".utf8), let name = parts.last else { return nil }
    return (String(decoding: path.utf8.dropLast(name.count + 1), as: UTF8.self), String(decoding: name, as: UTF8.self))
  }
}
