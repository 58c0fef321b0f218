internal import Glibc
internal import Synchronization

/// A process's use of a queue on a server. While it exists, no prune removes the queue's holds
/// (``StoreHolds/unusedTimeLimit``).
///
/// The folder of holds has a file `used`. Its lock, which every use shares, shows that a process
/// uses the queue, and its time shows when one last did.
package final class HoldsUse: Sendable {
  private let file: Int32
  /// When the time of the file was set; nil until then.
  private let touched = Mutex<Duration?>(nil)

  static let file = "used"
  /// How often the time of the file is set: rarely, because a hold must be cheap.
  private static let interval = Duration.seconds(3_600)

  /// - Parameter now: the wall clock, since 1970.
  /// - Returns: nil when the file cannot be created, such as by another user.
  init?(in folder: StoreFolder, now: Duration) {
    file = unsafe openat(folder.descriptor, Self.file, O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, folder.mode & 0o666)
    guard file >= 0 else { return nil }
    guard (try? FileLock.wait(file, exclusively: false, path: folder.path(of: Self.file))) != nil else { return nil }
    touch(at: now)
  }

  /// Records a use by a process that only releases holds.
  ///
  /// - Parameters:
  ///   - folder: the descriptor of a folder of holds.
  ///   - path: the path of this folder.
  /// - Returns: nil when the folder does not belong to a queue on a server.
  package init?(in folder: Int32, at path: String) {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:)) ?? path.startIndex
    guard StoreHolds.isOfServer(String(path[slash...])) else { return nil }
    file = unsafe openat(folder, Self.file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    guard (try? FileLock.wait(file, exclusively: false, path: "\(path)/\(Self.file)")) != nil else { return nil }
    futimens(file, nil)
  }

  deinit {
    if file >= 0 { close(file) }
  }

  /// Sets the time of the last use.
  ///
  /// - Parameter now: the wall clock, since 1970.
  func touch(at now: Duration) {
    touched.withLock { $0 = now }
    // Only the owner of a file may set another time than now.
    if !StoreFolder.setTime(of: file, now) { futimens(file, nil) }
  }

  /// Whether ``touch(at:)`` was called in the last hour.
  ///
  /// - Parameter now: the wall clock, since 1970.
  func isRecent(now: Duration) -> Bool {
    touched.withLock { $0.map { $0 <= now && now - $0 < Self.interval } ?? false }
  }

  /// Whether this is a use of the folder that has its name now.
  func isIn(_ folder: StoreFolder) -> Bool {
    var status = stat()
    return unsafe fstat(file, &status) == 0 && StoreStatus(status).isSameFile(as: folder.status(of: Self.file))
  }

  /// Whether the last use of the queue is longer ago than ``StoreHolds/unusedTimeLimit``. Called with
  /// the exclusive lock of the folder.
  ///
  /// - Parameter now: the wall clock, since 1970. A use that goes on, and a time in the future
  ///   because the wall clock was set back, count as a use now.
  static func isOver(in folder: StoreFolder, now: Duration) -> Bool {
    let file = unsafe openat(folder.descriptor, Self.file, O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, folder.mode & 0o666)
    guard file >= 0 else { return false }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { return false }
    let last = StoreStatus(status).lastUse
    guard flock(file, LOCK_EX | LOCK_NB) == 0, last <= now else {
      _ = StoreFolder.setTime(of: file, now)
      return false
    }
    return now - last >= StoreHolds.unusedTimeLimit
  }
}
