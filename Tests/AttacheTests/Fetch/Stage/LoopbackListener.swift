import Glibc

/// A TCP port on 127.0.0.N that accepts connections and sends nothing.
final class LoopbackListener {
  private let socket: LoopbackSocket

  /// - Parameter host: the last byte of the address.
  init(host: UInt8) throws {
    socket = try LoopbackSocket(host: host, backlog: 16)
    _ = fcntl(socket.descriptor, F_SETFL, O_NONBLOCK)
  }

  var port: UInt16 { socket.port }

  /// Whether a client has connected since the last call.
  var hasConnection: Bool {
    let connection = accept(socket.descriptor, nil, nil)
    guard connection >= 0 else { return false }
    close(connection)
    return true
  }
}
