import Attache
import Glibc

/// A small file system in memory.
final class MemoryDisk: Sendable {
  let path: String

  /// Whether this process may mount a file system, which needs root's capability.
  static let isPermitted: Bool = {
    guard let folder = try? TemporaryFolder(), let disk = try? MemoryDisk(at: folder["disk"]) else { return false }
    disk.unmount()
    return true
  }()

  init(at path: String, size: String = "64k") throws {
    self.path = path
    unsafe mkdir(path, 0o700)
    guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=\(size),mode=700") == 0 else { throw SystemError(call: "mount", number: errno) }
  }

  /// Uses up the free space.
  func fill() {
    let filler = unsafe open(path + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    let page = [UInt8](repeating: 0, count: 4096)
    while unsafe write(filler, page, page.count) > 0 {}
    close(filler)
  }

  /// Makes the disk larger, or smaller as far as there is free space.
  func resize(_ size: String) throws {
    guard unsafe mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT), "size=\(size)") == 0 else {
      throw SystemError(call: "mount", number: errno)
    }
  }

  /// Frees the space that ``fill()`` used.
  func empty() {
    unsafe unlink(path + "/filler")
  }

  func remount(readOnly: Bool) throws {
    let flags = UInt(MS_REMOUNT) | (readOnly ? UInt(MS_RDONLY) : 0)
    guard unsafe mount("tmpfs", path, "tmpfs", flags, nil) == 0 else { throw SystemError(call: "mount", number: errno) }
  }

  func unmount() {
    unsafe umount2(path, Int32(MNT_DETACH))
  }
}
