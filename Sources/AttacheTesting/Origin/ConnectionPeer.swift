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

  /// Sends a signal to the process that holds it, if that descends from this one. Nothing happens when it is closed.
  ///
  /// - Returns: false when it is open, and no such process can be seen. The files of a process that is not dumpable are shown to root alone (proc(5)).
  func signal(_ signal: Int32) -> Bool {
    guard let socket else { return true }
    let own = getpid()
    for process in CommandProcess.all() where process.number != own && process.holds(socket) && process.descends(from: own) {
      kill(process.number, signal)
      return true
    }
    // It may have been closed meanwhile.
    return self.socket == nil
  }

  /// What /proc/PID/fd calls it; nil when it is closed.
  private var socket: String? {
    // Local and remote address are the 2nd and the 3rd word, as HEX:PORT; the inode is the 10th, and 0 when nobody holds it (proc(5), /proc/net/tcp).
    let rows = CommandProcess.text(of: "/proc/net/tcp").split(separator: "\n").dropFirst()
    for row in rows {
      let words = row.split(separator: " ")
      guard words.count > 9, Self.port(words[1]) == port, Self.port(words[2]) == serverPort, words[9] != "0" else { continue }
      return "socket:[\(words[9])]"
    }
    return nil
  }

  private static func port(_ address: Substring) -> Int? {
    address.split(separator: ":").last.flatMap { Int($0, radix: 16) }
  }
}
