import Attache
import Foundation
import Glibc
import Synchronization

/// A temporary folder, removed with its contents when it is released.
final class AttachmentStoreTestFolder: Sendable {
  let path: String

  init() {
    path = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/attache-store-\(UUID().uuidString)"
    unsafe mkdir(path, 0o700)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  subscript(name: String) -> String {
    path + "/" + name
  }

  /// The regular files and symbolic links within the folder, as sorted paths.
  var files: [String] {
    files(in: "").sorted()
  }

  /// Enters mounted file systems too, unlike `FileManager`'s enumerator.
  private func files(in subfolder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: self[subfolder])) ?? []
    return names.flatMap { name in
      var status = stat()
      let file = subfolder + name
      guard unsafe lstat(self[file], &status) == 0 else { return [String]() }
      return status.st_mode & S_IFMT == S_IFDIR ? files(in: file + "/") : [file]
    }
  }

  func mode(_ name: String) -> mode_t? {
    var status = stat()
    return unsafe lstat(self[name], &status) == 0 ? status.st_mode & 0o7777 : nil
  }

  func bytes(_ name: String) -> [UInt8]? {
    FileManager.default.contents(atPath: self[name]).map { Array($0) }
  }

  func makeFolder(_ name: String, mode: mode_t = 0o700) {
    unsafe mkdir(self[name], mode)
    setMode(name, mode)
  }

  func setMode(_ name: String, _ mode: mode_t) {
    unsafe chmod(self[name], mode)
  }

  /// Removes a file or an empty folder.
  func remove(_ name: String) {
    unsafe Glibc.remove(self[name])
  }

  func move(_ name: String, to newName: String) {
    unsafe rename(self[name], self[newName])
  }

  func write(_ bytes: [UInt8], to name: String) {
    _ = FileManager.default.createFile(atPath: self[name], contents: Data(bytes))
  }

  func link(_ name: String, to target: String) {
    unsafe symlink(target, self[name])
  }

  /// Sets a file's last use, in wall clock time since 1970.
  func setLastUse(_ name: String, _ time: Duration) {
    let stamp = timespec(tv_sec: Int(time.components.seconds), tv_nsec: Int(time.components.attoseconds / 1_000_000_000))
    unsafe utimensat(AT_FDCWD, self[name], [stamp, stamp], AT_SYMLINK_NOFOLLOW)
  }

  func store(maximumBytes: Int64 = 1_000_000, maximumAge: Duration = .seconds(3600)) throws -> AttachmentStore {
    try AttachmentStore(directory: path, maximumBytes: maximumBytes, maximumAge: maximumAge)
  }
}

extension AttachmentStore {
  /// Stores bytes and leaves them unpinned.
  func add(_ bytes: [UInt8], as type: MediaType = .png) throws -> StoredFile {
    let file = try beginFile()
    try file.append(bytes)
    let stored = try file.finish(type: type)
    unpin(stored)
    return stored
  }
}

/// A wall clock that the test advances.
final class TestWallClock: Sendable {
  private let time: Mutex<Duration>

  /// Starts at the present time, since written files get the system's time.
  init() {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    time = Mutex(.seconds(now.tv_sec))
  }

  var now: Duration {
    time.withLock { $0 }
  }

  func turn(by duration: Duration) {
    time.withLock { $0 += duration }
  }
}
