internal import Glibc

/// The folder of a run's extension processes: a home for each process, as an iOS app has it, and
/// what they share.
package final class ExtensionFolder: Sendable {
  package let path: String

  /// - Throws: ``SystemError`` when the folder cannot be created.
  package init() throws(SystemError) {
    let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/attache-extension-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp", number: errno) }
    let made = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // The extension names files by their real paths.
    let real = unsafe realpath(made, nil)
    path = unsafe real.map { unsafe String(cString: $0) } ?? made
    unsafe free(real)
    for name in ["Groups", "Preferences"] { try Self.makeFolder("\(path)/\(name)") }
  }

  deinit {
    remove()
  }

  /// Removes the folder with all that is in it.
  func remove() {
    Self.remove(path)
  }

  /// Creates the home of a process.
  ///
  /// - Parameter number: the number of the process in this run.
  /// - Returns: the environment variables that lead the process to its home.
  func makeHome(_ number: Int) throws(SystemError) -> [String: String] {
    let home = home(number)
    try Self.makeFolder(home)
    for name in ["Documents", "Library", "Library/Caches", "Library/Application Support", "tmp"] { try Self.makeFolder("\(home)/\(name)") }
    return [
      "HOME": home, "CFFIXED_USER_HOME": home, "TMPDIR": "\(home)/tmp", "ATTACHE_GROUPS": "\(path)/Groups",
      "XDG_CACHE_HOME": "\(home)/Library/Caches", "XDG_DATA_HOME": "\(home)/Library/Application Support",
      "XDG_CONFIG_HOME": "\(path)/Preferences",
    ]
  }

  /// Removes the home of a process that has ended.
  func removeHome(_ number: Int) {
    Self.remove(home(number))
  }

  /// The home of a process.
  package func home(_ number: Int) -> String { "\(path)/\(number)" }

  private static func makeFolder(_ path: String) throws(SystemError) {
    _ = try SystemError.check("mkdir", unsafe mkdir(path, 0o700))
  }

  /// Removes a folder with all that is in it. Symbolic links are removed, not followed.
  private static func remove(_ path: String) {
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    if descriptor >= 0 {
      for name in (try? FolderListing.names(closing: descriptor)) ?? [] {
        let child = path + "/" + String(decoding: name, as: UTF8.self)
        if unsafe unlink(child) != 0 { remove(child) }
      }
    }
    unsafe rmdir(path)
  }
}
