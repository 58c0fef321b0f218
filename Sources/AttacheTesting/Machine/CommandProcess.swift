internal import Attache
internal import Glibc

/// A process, read from /proc.
struct CommandProcess {
  let number: pid_t

  static func all() -> [CommandProcess] {
    names(of: "/proc").compactMap { pid_t($0) }.map(CommandProcess.init)
  }

  /// Returns all processes of a group.
  static func all(in group: pid_t) -> [CommandProcess] {
    all().filter { getpgid($0.number) == group }
  }

  /// Returns whether one of its descriptors refers to one of these files.
  ///
  /// - Parameter files: the names in /proc, such as `socket:[12345]`.
  func holds(anyOf files: Set<String>) -> Bool {
    let folder = "/proc/\(number)/fd"
    return Self.names(of: folder).contains { Self.target(of: "\(folder)/\($0)").map(files.contains) == true }
  }

  /// Returns whether a process is its direct or indirect parent.
  func descends(from ancestor: pid_t) -> Bool {
    var process = self
    while let parent = process.status("PPid").flatMap({ pid_t($0) }), parent > 0 {
      if parent == ancestor { return true }
      process = CommandProcess(number: parent)
    }
    return false
  }

  /// Returns whether it is a converter that the parent of a fetcher started, and has taken a picture:
  /// it has used processor time (the 14th field of its `stat`, in ticks). With several fetchers, it
  /// may be another one's.
  func isConverter(beside fetcher: CommandProcess) -> Bool {
    guard status("Name") == "converter", let parent = status("PPid"), parent == fetcher.status("PPid") else { return false }
    let fields = Self.text(of: "/proc/\(number)/stat").split(separator: " ")
    return fields.count > 13 && fields[13] != "0"
  }

  /// The number of open descriptors.
  var descriptors: Int {
    Self.names(of: "/proc/\(number)/fd").count
  }

  /// Its peak resident set, in bytes.
  var peakMemory: Int { memory("VmHWM") ?? 0 }

  /// Returns a value of its status in bytes; the file has kB. Nil when the kernel does not report
  /// it.
  func memory(_ name: String) -> Int? {
    status(name)?.split(separator: " ").first.flatMap { Int($0) }.map { $0 * 1024 }
  }

  /// Returns whether a signal was sent to it but is still pending.
  func isPending(_ signal: Int32) -> Bool {
    let mask = status("ShdPnd").flatMap { UInt64($0, radix: 16) } ?? 0
    return mask >> UInt64(signal - 1) & 1 == 1
  }

  /// Whether it is the shell that runs the command, not the command itself.
  var isShell: Bool {
    let executable = Self.realPath("/proc/\(number)/exe")
    return executable != nil && executable == Self.realPath("/bin/sh")
  }

  private static func target(of link: String) -> String? {
    // Sockets have short names; longer names are other files.
    var name = [CChar](repeating: 0, count: 64)
    let count = unsafe readlink(link, &name, name.count)
    return count > 0 ? String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
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

  /// Returns the contents of a file of /proc; empty when it cannot be read. Such a file has no
  /// size.
  static func text(of file: String) -> String {
    let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while case let count = unsafe read(descriptor, &buffer, buffer.count), count > 0 { text += buffer[..<count] }
    return String(decoding: text, as: UTF8.self)
  }
}
