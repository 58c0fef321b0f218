internal import Glibc

/// Finds the process that holds a lock of a file, in /proc/locks.
package enum LockHolder {
  /// Returns the holder of a lock of an open file, such as `process 4711 (attache work, user push)`;
  /// nil when it cannot be found: in another container, or on a file system whose device numbers
  /// differ from those of its files, such as Btrfs.
  package static func description(ofLockOn descriptor: Int32) -> String? {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    return description(of: [key(of: status)], in: table)
  }

  /// The same for a lock of one of several files. The first file with a holder counts.
  package static func description(ofLockOnAnyOf paths: [String]) -> String? {
    let keys = paths.compactMap { path in
      var status = stat()
      return unsafe stat(path, &status) == 0 ? key(of: status) : nil
    }
    return description(of: keys, in: table)
  }

  /// - Parameters:
  ///   - keys: the files, as `MAJOR:MINOR:INODE`.
  ///   - table: the content of /proc/locks (proc_locks(5)).
  private static func description(of keys: [String], in table: String) -> String? {
    let own = getpid()
    let lines = table.split(separator: "\n").map { $0.split(separator: " ") }
    for key in keys {
      // A line is `1: FLOCK ADVISORY WRITE 4711 08:02:1234 0 EOF`; a process that waits has `->` before FLOCK.
      let held = lines.filter { $0.count == 8 && $0[5] == key && $0[1] != "->" }
      let holders = (held.filter { $0[3] == "WRITE" } + held).compactMap { Int32($0[4]) }.filter { $0 > 0 && $0 != own }
      if let holder = holders.first { return process(holder) }
      if held.contains(where: { $0[4] == "-1" }), let holder = processWithOpenFile(lockedAs: key) { return process(holder) }
    }
    return nil
  }

  /// The process that has locked an open file by F_OFD_SETLK (fcntl(2)). The kernel lists no process
  /// for such a lock, but shows it beside each descriptor of the file (proc_pid_fdinfo(5)), to the
  /// same user and to root.
  private static func processWithOpenFile(lockedAs key: String) -> Int32? {
    for process in numbers(in: "/proc") where process != getpid() {
      let folder = "/proc/\(process)/fdinfo"
      for descriptor in numbers(in: folder) {
        let lines = text(of: "\(folder)/\(descriptor)", maximum: 4 << 10).split(separator: "\n")
        if lines.contains(where: { $0.hasPrefix("lock:") && $0.split(separator: " ").contains { $0 == key } }) { return process }
      }
    }
    return nil
  }

  private static func numbers(in folder: String) -> [Int32] {
    let listed = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard listed >= 0, let names = try? FolderListing.names(closing: listed) else { return [] }
    return names.compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
  }

  private static var table: String { text(of: "/proc/locks", maximum: 4 << 20) }

  /// The form of a file in /proc/locks.
  private static func key(of status: stat) -> String {
    let device = UInt64(status.st_dev)
    // As gnu_dev_major(3) and gnu_dev_minor(3).
    let major = device >> 8 & 0xFFF | device >> 32 & ~0xFFF
    let minor = device & 0xFF | device >> 12 & ~0xFF
    return "\(hexadecimal(major)):\(hexadecimal(minor)):\(UInt64(status.st_ino))"
  }

  private static func hexadecimal(_ number: UInt64) -> String {
    (number < 16 ? "0" : "") + String(number, radix: 16)
  }

  /// Returns the process with its command and its user. The process chooses its
  /// command, so that is made printable.
  private static func process(_ number: Int32) -> String {
    let folder = "/proc/\(number)"
    // The lock belongs to an open file, which a child may have inherited.
    guard unsafe access(folder, F_OK) == 0 else { return "a child of process \(number), which has ended," }
    var parts: [String] = []
    let arguments = text(of: folder + "/cmdline", maximum: 64 << 10).split(separator: "\0", omittingEmptySubsequences: false)
    if let name = arguments.first?.split(separator: "/").last {
      // A second word is the subcommand of attache; other programs may have secrets there.
      let subcommand = name.hasPrefix("attache") ? arguments.dropFirst().first : nil
      parts.append(([name] + (subcommand.map { [$0] } ?? [])).map(printable).joined(separator: " "))
    }
    var status = stat()
    if unsafe stat(folder, &status) == 0 { parts.append("user \(user(status.st_uid))") }
    return "process \(number)" + (parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))")
  }

  /// The name of a user; the number when /etc/passwd does not have it.
  private static func user(_ number: uid_t) -> String {
    for line in text(of: "/etc/passwd", maximum: 1 << 20).split(separator: "\n") {
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      if fields.count > 2, fields[2] == "\(number)" { return printable(fields[0]) }
    }
    return "\(number)"
  }

  /// At most 40 printable ASCII characters, with `?` in place of others.
  private static func printable(_ text: Substring) -> String {
    String(decoding: text.utf8.prefix(40).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
  }

  private static func text(of path: String, maximum: Int) -> String {
    ((try? SmallFile.read(path, maximum: maximum)) ?? nil).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}
