internal import Glibc
internal import NIOCore

/// The client's end of a connection on loopback.
struct ConnectionPeer {
  private let port: Int
  private let serverPort: Int

  /// - Returns: nil when the connection is closed.
  init?(_ channel: any Channel) {
    guard let port = channel.remoteAddress?.port, let serverPort = channel.localAddress?.port else { return nil }
    (self.port, self.serverPort) = (port, serverPort)
  }

  /// Sends a signal to the process that holds it, if that descends from this one. Nothing happens
  /// when it is closed.
  ///
  /// - Returns: false when it is open, and no such process can be seen. The files of a process that
  ///   is not dumpable are shown only to who has CAP_SYS_PTRACE (proc(5)).
  func signal(_ signal: Int32) -> Bool {
    guard !sockets.isEmpty else { return true }
    let own = getpid()
    for process in CommandProcess.all() where process.descends(from: own) && process.holds(anyOf: sockets) {
      return kill(process.number, signal) == 0 || errno == ESRCH
    }
    // It may have been closed meanwhile.
    return sockets.isEmpty
  }

  /// What /proc/PID/fd calls it; nothing when it is closed. Other sockets with the same two ports
  /// are among them, which only other addresses can have.
  private var sockets: Set<String> {
    // Local and remote address are the 2nd and the 3rd word, as HEX:PORT; the inode is the 10th,
    // and 0 when nobody holds it (proc(5), /proc/net/tcp). A socket for both families is in the
    // second file, whatever family it uses.
    let rows = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { CommandProcess.text(of: $0).split(separator: "\n").dropFirst() }
    let inodes = rows.compactMap { row -> String? in
      let words = row.split(separator: " ")
      guard words.count > 9, Self.port(words[1]) == port, Self.port(words[2]) == serverPort, words[9] != "0" else { return nil }
      return "socket:[\(words[9])]"
    }
    return Set(inodes)
  }

  private static func port(_ address: Substring) -> Int? {
    address.split(separator: ":").last.flatMap { Int($0, radix: 16) }
  }
}
