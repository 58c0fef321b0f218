internal import Glibc
internal import Synchronization

/// A file system in memory (tmpfs) that a scenario's store lies on.
package final class ScenarioDisk: Sendable {
  /// tmpfs gives out whole pages.
  private static let pageSize = 4096
  /// Room for every file of a scenario.
  private static let ampleSize = 256 << 20

  private let path: String
  private let script: DiskScript
  private let isMounted = Mutex(true)

  /// Mounts it on a folder, which is made.
  ///
  /// - Throws: ``StageError/unavailable(_:)`` where the user may not mount.
  package init(_ script: DiskScript, at path: String) throws(StageError) {
    self.path = path
    self.script = script
    unsafe mkdir(path, 0o700)
    let size =
      switch script {
      case .full(let bytes): max(1, (bytes + Self.pageSize - 1) / Self.pageSize) * Self.pageSize
      case .readOnly: Self.ampleSize
      }
    guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=\(size),mode=700") == 0 else {
      let number = errno
      let isForbidden = number == EPERM || number == EACCES
      throw isForbidden
        ? .unavailable("its disk needs the right to mount a file system: run as root") : .system(call: "mount", errno: number)
    }
  }

  deinit {
    unmount()
  }

  /// What happens to the disk when the first request reaches an origin.
  /// - Returns: what that is, in words; nil when it is nothing.
  package func requestCame() throws(StageError) -> String? {
    switch script {
    case .full(0):
      fill()
      return "full from now on"
    case .full: return nil
    case .readOnly:
      try turnReadOnly()
      return "read-only from now on"
    }
  }

  /// Waits for files that are being written at this moment, a second at most: the kernel refuses
  /// until they are closed (mount(2), EBUSY).
  private func turnReadOnly() throws(StageError) {
    for _ in 0..<1_000 {
      if unsafe mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 { return }
      guard errno == EBUSY else { break }
      usleep(1_000)
    }
    throw .system(call: "mount", errno: errno)
  }

  /// Once is enough, twice does no harm.
  package func unmount() {
    let isFirst = isMounted.withLock { mounted in
      defer { mounted = false }
      return mounted
    }
    if isFirst { unsafe umount2(path, Int32(MNT_DETACH)) }
  }

  /// Takes the one page that a disk has at least: attache needs room for a byte to start at all.
  private func fill() {
    let filler = unsafe open("\(path)/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    let page = [UInt8](repeating: 0, count: Self.pageSize)
    while unsafe write(filler, page, page.count) > 0 {}
    close(filler)
  }
}
