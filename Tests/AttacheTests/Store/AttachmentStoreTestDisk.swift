import Foundation
import Glibc

/// A file system of 64 KiB in memory.
struct AttachmentStoreTestDisk {
  let path: String

  /// Whether this process may mount a file system, which needs root's capability.
  static let isPermitted: Bool = {
    let folder = AttachmentStoreTestFolder()
    guard let disk = AttachmentStoreTestDisk(at: folder["disk"]) else { return false }
    disk.unmount()
    return true
  }()

  init?(at path: String) {
    self.path = path
    unsafe mkdir(path, 0o700)
    guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=64k,mode=700") == 0 else { return nil }
  }

  /// Uses up the free space.
  func fill() {
    let filler = unsafe open(path + "/filler", O_WRONLY | O_CREAT, 0o600)
    let page = [UInt8](repeating: 0, count: 4096)
    while unsafe write(filler, page, page.count) > 0 {}
    close(filler)
  }

  func turnReadOnly() {
    unsafe mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil)
  }

  func unmount() {
    unsafe umount2(path, Int32(MNT_DETACH))
  }
}
