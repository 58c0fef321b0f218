internal import Attache
internal import Glibc

/// A process of a command's group, as /proc shows it.
struct CommandProcess {
  let number: pid_t

  /// Every process of a group.
  static func all(in group: pid_t) -> [CommandProcess] {
    names(of: "/proc").compactMap { pid_t($0) }.filter { getpgid($0) == group }.map(CommandProcess.init)
  }

  /// How many descriptors it has open.
  var descriptors: Int {
    Self.names(of: "/proc/\(number)/fd").count
  }

  /// The largest resident set that it has had, in bytes.
  var peakMemory: Int {
    let kilobytes = status("VmHWM")?.split(separator: " ").first.flatMap { Int($0) }
    return (kilobytes ?? 0) * 1024
  }

  /// Whether a signal has reached it and is not yet taken.
  func isPending(_ signal: Int32) -> Bool {
    let mask = status("ShdPnd").flatMap { UInt64($0, radix: 16) } ?? 0
    return mask >> UInt64(signal - 1) & 1 == 1
  }

  /// Whether it is the shell that runs the command, and not the command itself.
  var isShell: Bool {
    let executable = Self.realPath("/proc/\(number)/exe")
    return executable != nil && executable == Self.realPath("/bin/sh")
  }

  private static func realPath(_ path: String) -> String? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  private func status(_ name: String) -> Substring? {
    let line = Self.text(of: "/proc/\(number)/status").split(separator: "\n").first { $0.hasPrefix(name + ":") }
    return line?.dropFirst(name.count + 1).drop { $0 == "\t" || $0 == " " }
  }

  private static func names(of folder: String) -> [String] {
    let listed = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard listed >= 0, let names = try? FolderListing.names(closing: listed) else { return [] }
    return names.map { String(decoding: $0, as: UTF8.self) }.filter { !$0.hasPrefix(".") }
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
