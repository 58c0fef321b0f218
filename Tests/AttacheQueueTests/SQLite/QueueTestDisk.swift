import Foundation
import Glibc

/// A file system of a megabyte in memory.
final class QueueTestDisk: Sendable {
  let path: String

  /// Whether this process may mount one: it takes root's capability.
  static let isPermitted = QueueTestDisk() != nil

  init?() {
    path = FileManager.default.temporaryDirectory.path + "/attache-queue-disk-\(UUID().uuidString)"
    unsafe mkdir(path, 0o700)
    guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=1m,mode=700") == 0 else {
      unsafe rmdir(path)
      return nil
    }
  }

  deinit {
    unsafe umount2(path, Int32(MNT_DETACH))
    unsafe rmdir(path)
  }

  /// Takes all the room that is left.
  func fill() {
    let filler = unsafe open(path + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    let page = [UInt8](repeating: 0, count: 4096)
    while unsafe write(filler, page, page.count) > 0 {}
    close(filler)
  }

  /// Gives back what ``fill()`` took.
  func empty() {
    unsafe unlink(path + "/filler")
  }

  func turnReadOnly() -> Bool {
    unsafe mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0
  }
}
