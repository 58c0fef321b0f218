import AttacheQueue
import Foundation
import Glibc
import Testing

/// A small file system in memory.
final class QueueTestDisk: Sendable {
  let path: String

  /// Whether this process may mount a file system, which needs root's capability.
  static let isPermitted = QueueTestDisk() != nil

  /// - Parameter path: the mount point; nil for a temporary folder.
  init?(at path: String? = nil, size: String = "1m") {
    self.path = path ?? FileManager.default.temporaryDirectory.path + "/attache-queue-disk-\(UUID().uuidString)"
    unsafe mkdir(self.path, 0o700)
    guard unsafe mount("tmpfs", self.path, "tmpfs", 0, "size=\(size),mode=700") == 0 else {
      unsafe rmdir(self.path)
      return nil
    }
  }

  deinit {
    unmount()
    unsafe rmdir(path)
  }

  func unmount() {
    unsafe umount2(path, Int32(MNT_DETACH))
  }

  /// Uses up the free space with a file whose name begins with a dot.
  func fill() {
    let filler = unsafe open(path + "/.filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    let page = [UInt8](repeating: 0, count: 4096)
    while unsafe write(filler, page, page.count) > 0 {}
    close(filler)
  }

  /// Frees the space that ``fill()`` used.
  func empty() {
    unsafe unlink(path + "/.filler")
  }

  func turnWritable() {
    unsafe mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT), nil)
  }

  @discardableResult
  func turnReadOnly() -> Bool {
    unsafe mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0
  }
}

/// Whether the body fails because the disk is full.
func isFull(_ body: () throws -> Void) -> Bool {
  do {
    try body()
    return false
  } catch QueueError.full {
    return true
  } catch {
    Issue.record(error)
    return false
  }
}
