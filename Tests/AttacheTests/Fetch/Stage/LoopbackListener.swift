import Glibc

/// A TCP port on 127.0.0.N that takes connections and says nothing.
final class LoopbackListener {
  private let socket: LoopbackSocket

  /// - Parameter host: the last byte of the address.
  init(host: UInt8) throws {
    socket = try LoopbackSocket(host: host, backlog: 16)
    _ = fcntl(socket.descriptor, F_SETFL, O_NONBLOCK)
  }

  var port: UInt16 { socket.port }

  /// Whether somebody has connected since this was last asked.
  var hasConnection: Bool {
    let connection = accept(socket.descriptor, nil, nil)
    guard connection >= 0 else { return false }
    close(connection)
    return true
  }
}
