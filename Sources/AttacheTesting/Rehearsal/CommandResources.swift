internal import Glibc

/// The most that one process of a group was seen to hold at a time, by what /proc says.
struct CommandResources: Sendable, Hashable {
  /// Bytes of the largest resident set.
  var memory = 0
  var descriptors = 0

  /// Looks at every process of the group.
  mutating func look(at group: pid_t) {
    for process in Self.names(of: "/proc").compactMap({ pid_t($0) }) where getpgid(process) == group {
      descriptors = max(descriptors, Self.names(of: "/proc/\(process)/fd").count)
      memory = max(memory, Self.peakMemory(of: process))
    }
  }

  private static func peakMemory(of process: pid_t) -> Int {
    let line = text(of: "/proc/\(process)/status").split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line?.split(separator: " ").dropFirst().first).flatMap { Int($0) }.map { $0 * 1024 } ?? 0
  }

  /// Whether a process of the group has this signal still before it.
  static func isPending(_ signal: Int32, in group: pid_t) -> Bool {
    names(of: "/proc").compactMap { pid_t($0) }.filter { getpgid($0) == group }.contains { process in
      let line = text(of: "/proc/\(process)/status").split(separator: "\n").first { $0.hasPrefix("ShdPnd:") }
      let mask = line.flatMap { UInt64($0.dropFirst("ShdPnd:".count).drop { $0 == "\t" || $0 == " " }, radix: 16) }
      return (mask ?? 0) >> UInt64(signal - 1) & 1 == 1
    }
  }

  private static func names(of folder: String) -> [String] {
    guard let stream = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  private static func text(of file: String) -> String {
    let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe read(descriptor, &buffer, buffer.count)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }
}
