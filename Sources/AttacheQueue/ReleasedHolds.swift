package import Attache
internal import Glibc

/// Removes the links by which a queue held attachments, once no result has them.
///
/// A link is removed under the lock of its folder, which workers share from before they take a hold
/// until their result is in the queue. The folders that are known are locked before the queue is
/// asked, so that no worker takes a hold between its release and its removal.
package final class ReleasedHolds {
  /// By path.
  private var folders: [String: Int32] = [:]
  private let queue: any PayloadQueue
  /// Hears of the first link that cannot be removed, such as by a user who may not write to the
  /// store: a worker's start removes it later.
  package var onFailure: (_ path: String, _ error: SystemError) -> Void = { _, _ in }
  private var hasFailed = false
  /// Links that are compared with the queue under one lock.
  private static let portion = 1_000

  /// - Parameters:
  ///   - queue: sets links free; the folder of those that it has is known from now on.
  ///   - folder: a further folder of the queue's holds.
  package init(of queue: any PayloadQueue, in folder: String? = nil) throws(QueueError) {
    self.queue = queue
    if let folder { _ = opened(folder) }
    if let path = try queue.anyHold(), let (parent, _) = Self.parts(of: path) { _ = opened(parent) }
  }

  deinit {
    for folder in folders.values { close(folder) }
  }

  /// Has a queue set links free, and removes them.
  package func remove<Failure: Error>(_ release: () throws(Failure) -> [String]) throws(Failure) {
    // In one order, so that two processes do not wait for each other.
    let known = folders.sorted { $0.key < $1.key }.map(\.value)
    for folder in known { Self.lock(folder) }
    defer { for folder in folders.values { flock(folder, LOCK_UN) } }
    for path in try release() {
      guard let (parent, name) = Self.parts(of: path) else { continue }
      let isKnown = folders[parent] != nil
      guard let folder = opened(parent) else { continue }
      if !isKnown { Self.lock(folder) }
      if unsafe unlinkat(folder, name, 0) != 0, errno != ENOENT, !hasFailed {
        hasFailed = true
        onFailure(path, SystemError(call: "unlink", number: errno))
      }
    }
  }

  /// Removes links that no result has: of a worker that was killed before its result was in the
  /// queue, for one.
  ///
  /// - Parameter location: of the queue. Folders that are another queue's, or may be, are left
  ///   alone: a copy of a queue lists the holds of the queue itself, and a queue at the same path
  ///   in another container knows nothing of them. What is left there goes a week after that path
  ///   (``AttachmentStore/prune()``).
  /// - Returns: how many.
  @discardableResult
  package func removeUnlisted(of location: QueueLocation) throws(QueueError) -> Int {
    var count = 0
    for (path, folder) in folders where AttachmentStore.isHoldsFolder(path, of: location.description) {
      var names = Self.links(in: folder)[...]
      while !names.isEmpty {
        let portion = names.prefix(Self.portion).map { "\(path)/\($0)" }
        names = names.dropFirst(portion.count)
        let unlisted = try queue.unlistedHolds(portion)
        guard !unlisted.isEmpty else { continue }
        // Asked again under the lock: a worker may have taken a hold and finished since.
        try remove { () throws(QueueError) in
          let unlisted = try queue.unlistedHolds(unlisted)
          count += unlisted.count
          return unlisted
        }
      }
    }
    return count
  }

  /// The names of links: those of the store's files have a dot, and the folder's own files none.
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

  /// Workers that share the lock one after another let this process pass (``HoldsTurn``).
  private static func lock(_ folder: Int32) {
    let turn = HoldsTurn.alone(in: folder)
    defer { withExtendedLifetime(turn) {} }
    try? FileLock.wait(folder, exclusively: true)
  }

  /// The folder and the name of a link: `…/.held/FOLDER/NAME`, and nothing else, since whoever
  /// wrote the queue may have written anything.
  private static func parts(of path: String) -> (folder: String, name: String)? {
    guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else { return nil }
    // By bytes, as the system reads it: a slash with a combining mark behind it is another
    // character, and a slash all the same.
    let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
    let areSteps = parts.contains { part in part.isEmpty || part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8) }
    guard parts.count >= 3, !areSteps, parts[parts.endIndex - 3].elementsEqual(".held".utf8), let name = parts.last else { return nil }
    return (String(decoding: path.utf8.dropLast(name.count + 1), as: UTF8.self), String(decoding: name, as: UTF8.self))
  }
}
