internal import Glibc
internal import Synchronization

/// The folder of a run's extension processes: a home for each process, as an iOS app has it, and
/// what they share, which is the app groups and the notification centre (the folder `Centre`).
package final class ExtensionFolder: Sendable {
  package let path: String
  /// The folder with a folder for each app group, their keychain, and their defaults in `Preferences`.
  package let groups: String

  /// The start of the names of these folders.
  private static let prefix = "attache-extension-"
  /// The file that is locked as long as the run lasts, however it ends.
  private static let lockName = "lock"

  private let lock: Int32
  /// Held by the thread that removes something.
  private let removing = Mutex(())

  /// Creates a folder, and removes those of runs that were killed.
  ///
  /// - Parameter groups: the folder of the app groups, which is kept; nil for an empty one.
  /// - Throws: ``SystemError`` when a folder cannot be created.
  package init(groups: String? = nil) throws(SystemError) {
    let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    Self.removeLeftovers(in: parent)
    var template = Array("\(parent)/\(Self.prefix)XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp", number: errno) }
    let made = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // The extension names files by their real paths.
    path = Self.realPath(made)
    lock = try Self.lockedFile(in: path)
    if groups == nil { try Self.makeFolder("\(path)/Groups") }
    self.groups = groups.map(Self.realPath) ?? "\(path)/Groups"
    try Self.makeFolder("\(self.groups)/Preferences")
  }

  deinit {
    remove()
    close(lock)
  }

  /// Creates the file whose lock says that the folder is in use. It gets its name when it is locked.
  private static func lockedFile(in folder: String) throws(SystemError) -> Int32 {
    let (new, name) = ("\(folder)/new", "\(folder)/\(lockName)")
    let lock = try SystemError.check("open", unsafe open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600))
    do throws(SystemError) {
      _ = try SystemError.check("flock", flock(lock, LOCK_EX | LOCK_NB))
      _ = try SystemError.check("rename", unsafe rename(new, name))
      return lock
    } catch {
      close(lock)
      throw error
    }
  }

  /// Removes the folders of this user whose runs have ended without removing them.
  private static func removeLeftovers(in parent: String) {
    let descriptor = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0, let names = try? FolderListing.names(closing: descriptor) else { return }
    for name in names where name.starts(with: prefix.utf8) {
      let folder = "\(parent)/" + String(decoding: name, as: UTF8.self)
      var status = stat()
      guard unsafe lstat(folder, &status) == 0, status.st_uid == geteuid() else { continue }
      let lock = unsafe open("\(folder)/\(lockName)", O_RDWR | O_NOFOLLOW | O_CLOEXEC)
      guard lock >= 0 else { continue }
      if flock(lock, LOCK_EX | LOCK_NB) == 0 { remove(folder) }
      close(lock)
    }
  }

  /// Removes the folder with all that is in it.
  func remove() {
    removing.withLock { _ in Self.remove(path) }
  }

  /// Creates the home of a process, or finds it.
  ///
  /// - Parameter number: the number of the process in this run.
  /// - Returns: the environment variables that lead the process to its home.
  func makeHome(_ number: Int) throws(SystemError) -> [String: String] {
    let home = home(number)
    try Self.makeFolder(home)
    for name in ["Documents", "Library", "Library/Caches", "Library/Application Support", "tmp"] { try Self.makeFolder("\(home)/\(name)") }
    return [
      "HOME": home, "CFFIXED_USER_HOME": home, "TMPDIR": "\(home)/tmp", "ATTACHE_GROUPS": groups, "ATTACHE_CENTRE": "\(path)/Centre",
      "XDG_CACHE_HOME": "\(home)/Library/Caches", "XDG_DATA_HOME": "\(home)/Library/Application Support",
      "XDG_CONFIG_HOME": "\(groups)/Preferences",
    ]
  }

  /// Removes the home of a process that has ended, on a thread of its own: it may have any number of
  /// files.
  func removeHome(_ number: Int) {
    let removed = "\(path)/removed-\(number)"
    guard unsafe rename(home(number), removed) == 0 else { return }
    let remove: @Sendable () -> Void = { [self] in removing.withLock { _ in Self.remove(removed) } }
    do throws(SystemError) { try SystemMachine().start("remove", remove).detach() } catch { remove() }
  }

  /// The home of a process.
  package func home(_ number: Int) -> String { "\(path)/\(number)" }

  private static func realPath(_ path: String) -> String {
    let real = unsafe realpath(path, nil)
    defer { unsafe free(real) }
    return unsafe real.map { unsafe String(cString: $0) } ?? path
  }

  private static func makeFolder(_ path: String) throws(SystemError) {
    if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw SystemError(call: "mkdir", number: errno) }
  }

  /// Removes a folder with all that is in it, however deep it is. Symbolic links are removed, not
  /// followed.
  private static func remove(_ path: String) {
    let root = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard root >= 0 else { return }
    var moved = 0
    var removesMore = true
    // What is in a folder of the root moves up to the root, so that no path becomes long.
    while removesMore {
      removesMore = false
      for name in names(in: root) {
        if remove(name, in: root) {
          removesMore = true
          continue
        }
        let folder = unsafe openat(root, cString(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { continue }
        for child in names(in: folder) where !remove(child, in: folder) {
          moved += 1
          unsafe renameat(folder, cString(child), root, ".\(moved)")
        }
        close(folder)
        if unsafe unlinkat(root, cString(name), AT_REMOVEDIR) == 0 { removesMore = true }
      }
    }
    close(root)
    unsafe rmdir(path)
  }

  /// Removes a file. A folder becomes readable and writable instead.
  ///
  /// - Returns: whether it is removed.
  private static func remove(_ name: [UInt8], in folder: Int32) -> Bool {
    if unsafe unlinkat(folder, cString(name), 0) == 0 { return true }
    unsafe fchmodat(folder, cString(name), 0o700, 0)
    return false
  }

  private static func names(in folder: Int32) -> [[UInt8]] {
    let descriptor = unsafe openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    return descriptor < 0 ? [] : (try? FolderListing.names(closing: descriptor)) ?? []
  }

  private static func cString(_ name: [UInt8]) -> [CChar] {
    name.map { CChar(bitPattern: $0) } + [0]
  }
}
