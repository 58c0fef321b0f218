internal import Glibc
internal import Synchronization

/// A file system in memory (tmpfs) for a scenario's store.
package final class ScenarioDisk: Sendable {
  /// tmpfs allocates whole pages.
  private static let pageSize = 4096
  /// Enough for all files of a scenario.
  private static let ampleSize = 256 << 20

  private let path: String
  private let script: DiskScript
  private let isMounted = Mutex(true)

  /// Creates a folder and mounts the disk on it.
  ///
  /// - Throws: ``StageError/unavailable(_:)`` when the user has no permission to mount.
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
        ? .unavailable("its disk needs permission to mount a file system: run as root") : .system(call: "mount", errno: number)
    }
  }

  deinit {
    unmount()
  }

  /// Changes the disk when the first request reaches an origin, if the script says so.
  /// - Returns: a description of the change; nil when there is none.
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

  /// Makes the disk read-only. It waits a second at most for files that are being written, because
  /// the kernel refuses the change until they are closed (mount(2), EBUSY).
  private func turnReadOnly() throws(StageError) {
    for _ in 0..<1_000 {
      if unsafe mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 { return }
      guard errno == EBUSY else { break }
      usleep(1_000)
    }
    throw .system(call: "mount", errno: errno)
  }

  /// Unmounts the disk. A second call does nothing.
  package func unmount() {
    let isFirst = isMounted.withLock { mounted in
      defer { mounted = false }
      return mounted
    }
    if isFirst { unsafe umount2(path, Int32(MNT_DETACH)) }
  }

  /// Fills the one page that a disk has at least. attache needs room for a byte to start at all.
  private func fill() {
    let filler = unsafe open("\(path)/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    let page = [UInt8](repeating: 0, count: Self.pageSize)
    while unsafe write(filler, page, page.count) > 0 {}
    close(filler)
  }
}
