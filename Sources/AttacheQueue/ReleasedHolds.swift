internal import Glibc

/// Removes the links by which a queue held attachments, once it has set them free.
///
/// A link goes under the lock of its folder, which workers share from before they give it out until their result is in the queue. The folders that are known
/// are locked before the queue is asked, so that none is given out between its release and its removal.
package final class ReleasedHolds {
  private var folders: [String: Int32] = [:]

  /// - Parameter queue: sets links free; the folder of those that it has is known from now on.
  package init(of queue: any PayloadQueue) throws(QueueError) {
    guard let path = try queue.anyHold(), let (parent, _) = Self.parts(of: path), let folder = opened(parent) else { return }
    flock(folder, LOCK_UN)
  }

  deinit {
    for folder in folders.values { close(folder) }
  }

  /// Has a queue set links free, and removes them.
  package func remove<Failure: Error>(_ release: () throws(Failure) -> [String]) throws(Failure) {
    let known = folders
    for folder in known.values { Self.lock(folder) }
    defer { for folder in folders.values { flock(folder, LOCK_UN) } }
    for path in try release() {
      guard let (parent, name) = Self.parts(of: path), let folder = opened(parent) else { continue }
      _ = unsafe unlinkat(folder, name, 0)
    }
  }

  private func opened(_ path: String) -> Int32? {
    if let folder = folders[path] { return folder }
    let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard folder >= 0 else { return nil }
    Self.lock(folder)
    folders[path] = folder
    return folder
  }

  private static func lock(_ folder: Int32) {
    while flock(folder, LOCK_EX) != 0, errno == EINTR {}
  }

  /// The folder and the name of a link: `…/.held/FOLDER/NAME`, and nothing else, since whoever wrote the queue may have written anything.
  private static func parts(of path: String) -> (folder: String, name: String)? {
    guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else { return nil }
    // By bytes, as the system reads it: a slash with a combining mark behind it is another character, and a slash all the same.
    let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
    let areSteps = parts.contains { part in part.isEmpty || part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8) }
    guard parts.count >= 3, !areSteps, parts[parts.endIndex - 3].elementsEqual(".held".utf8), let name = parts.last else { return nil }
    return (String(decoding: path.utf8.dropLast(name.count + 1), as: UTF8.self), String(decoding: name, as: UTF8.self))
  }
}
