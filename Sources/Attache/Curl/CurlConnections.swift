internal import CCurl
internal import Glibc

/// The connections that libcurl keeps: which socket each is, and whether bytes lie there that
/// nobody asked for.
///
/// libcurl 7.88.1 reads what an origin has sent behind a body as the answer to the next request on
/// the same connection. So a connection that is used again must be silent before its request is
/// sent. HTTP/2 frames its answers, and may speak at any time. On the loop only.
final class CurlConnections {
  /// The two ends of a connection, as libcurl tells them before a request.
  struct Ends: Hashable {
    var address: IPAddress
    var port: Int32
    var localPort: Int32
  }

  /// Those sessions of TLS whose peer has said that it sends nothing more, by the address of their
  /// `SSL`.
  private var closedSessions: Set<UInt> = []
  private var sockets: [Ends: Int32] = [:]
  private var ends: [Int32: Ends] = [:]

  /// Takes a new connection down, whose socket is one of those that were opened for it.
  func add(_ ends: Ends, among opened: [Int32]) {
    guard let socket = opened.last(where: { Self.localPort(of: $0) == ends.localPort }) else { return }
    sockets[ends] = socket
    self.ends[socket] = ends
  }

  /// Forgets a socket that is about to be closed.
  func forget(_ socket: Int32) {
    guard let ends = ends.removeValue(forKey: socket), sockets[ends] == socket else { return }
    sockets[ends] = nil
  }

  /// Whether a connection is kept open.
  func isOpen(_ ends: Ends) -> Bool {
    sockets[ends] != nil
  }

  /// Notes that the peer of a session of TLS has said that it sends nothing more (close_notify; RFC
  /// 8446, 6.1).
  func noteClose(of session: UInt) {
    closedSessions.insert(session)
  }

  /// Whether the peer of a session has said so since the session was last asked about; forgets it.
  func takeClose(of session: UInt) -> Bool {
    closedSessions.remove(session) != nil
  }

  /// Whether bytes lie at the socket of a connection of HTTP/1 on which nothing was asked; false
  /// for a connection that is not known.
  ///
  /// Over TLS they may be a ticket or a farewell instead of a body's surplus: then a new connection
  /// is all that it costs.
  func holdsSurplus(_ ends: Ends) -> Bool {
    guard let socket = sockets[ends] else { return false }
    var byte: UInt8 = 0
    return unsafe recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
  }

  private static func localPort(of socket: Int32) -> Int32? {
    var name = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    // Both families keep the port in the same place.
    let code = unsafe withUnsafeMutablePointer(to: &name) { name in
      unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(socket, $0, &length) }
    }
    return code == 0 ? Int32(UInt16(bigEndian: name.sin6_port)) : nil
  }
}
