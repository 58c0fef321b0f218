import Attache
import AttacheArguments
import Glibc

/// The executable in the folder of `attache` that contains what needs libraries that the filter does
/// not load. It is started with `execv`, which keeps the process and its signal settings.
enum Companion {
  private static let name = "attache-tools"

  /// Replaces this process with the companion. If that fails, the process ends with a message that says what to do.
  static func become(_ arguments: [String]) -> Never {
    ErrorOutput.write("attache: \(failure(toBecome: arguments))\n")
    exit(ExitStatus.unavailable)
  }

  private static func failure(toBecome arguments: [String]) -> String {
    guard let folder = ownFolder else { return "/proc/self/exe cannot be read, so attache cannot find \(name) beside it" }
    let path = folder + "/" + name
    let argv: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    unsafe execv(path, argv)
    return "\(path): \(SystemError.text(errno)); scripts/install installs \(name) beside attache"
  }

  private static var ownFolder: String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    guard length > 0 else { return nil }
    let path = buffer.prefix(length).map { UInt8(bitPattern: $0) }
    return path.lastIndex(of: UInt8(ascii: "/")).map { String(decoding: path[..<$0], as: UTF8.self) }
  }
}
