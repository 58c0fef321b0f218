internal import Glibc

/// Small files of the system.
enum SystemFile {
  /// Returns the first line of a file, without its end; nil when there is none.
  static func firstLine(of path: String) -> String? {
    let line = read(path, limit: 256).prefix { $0 != UInt8(ascii: "\n") }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  /// The host's name.
  static var hostName: String { firstLine(of: "/proc/sys/kernel/hostname") ?? "unknown" }

  private static func read(_ path: String, limit: Int) -> [UInt8] {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = unsafe Glibc.read(file, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }
}
