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

  /// What became of a fault.
  enum Outcome {
    /// The process got its signal, or the connection is closed.
    case reached
    /// The connection is open but no process that holds it is visible. The files of a process that is
    /// not dumpable are visible only with CAP_SYS_PTRACE (proc(5)).
    case unseen
    /// The process has no converter yet.
    case early
  }

  /// Sends the signal of a fault to the process that holds the connection, or to its converter, if
  /// that process is a descendant of this one. Does nothing when the connection is closed.
  func play(_ fault: FetcherFault) -> Outcome {
    guard !sockets.isEmpty else { return .reached }
    let (own, processes) = (getpid(), CommandProcess.all())
    guard let holder = processes.first(where: { $0.descends(from: own) && $0.holds(anyOf: sockets) }) else {
      // The connection may have closed in the meantime.
      return sockets.isEmpty ? .reached : .unseen
    }
    guard fault == .converterDeath else { return Self.signal(holder, fault) }
    guard let converter = processes.first(where: { $0.isConverter(beside: holder) }) else { return .early }
    return Self.signal(converter, fault)
  }

  private static func signal(_ process: CommandProcess, _ fault: FetcherFault) -> Outcome {
    kill(process.number, fault.signal) == 0 || errno == ESRCH ? .reached : .unseen
  }

  /// The socket's names in /proc/PID/fd; empty when the connection is closed. Other sockets with
  /// the same two ports are included; they can exist only with other addresses.
  private var sockets: Set<String> {
    // The 2nd and 3rd words are the local and remote address, as HEX:PORT. The 10th word is the
    // inode, or 0 when no process holds the socket (proc(5), /proc/net/tcp). A socket for both
    // families is in the second file, whatever family it uses.
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
