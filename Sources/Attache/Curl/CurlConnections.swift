internal import CCurl
internal import Glibc

/// Tracks the connections that libcurl keeps open: the socket of each, and whether it has
/// unexpected bytes to read.
///
/// libcurl 7.88.1 reads bytes that an origin has sent after a body as the response to the next
/// request on the same connection. So a reused connection must have no unread bytes before its
/// request is sent. HTTP/2 is exempt: it frames its responses and may send at any time. Used on the
/// loop only.
final class CurlConnections {
  /// The two ends of a connection, as libcurl reports them before a request.
  struct Ends: Hashable {
    var address: IPAddress
    var port: Int32
    var localPort: Int32
  }

  /// The TLS sessions whose peer has sent a close_notify, by the address of their `SSL`.
  private var closedSessions: Set<UInt> = []
  /// Why certificates were not accepted, by the address of the connection's `SSL_CTX`.
  private var faults: [UInt: CertificateFault] = [:]
  private var sockets: [Ends: Int32] = [:]
  private var ends: [Int32: Ends] = [:]

  /// Records a new connection. Its socket is one of `opened`.
  func add(_ ends: Ends, among opened: [Int32]) {
    guard let socket = opened.last(where: { Self.localPort(of: $0) == ends.localPort }) else { return }
    sockets[ends] = socket
    self.ends[socket] = ends
  }

  /// Removes a socket that is about to be closed.
  func forget(_ socket: Int32) {
    guard let ends = ends.removeValue(forKey: socket), sockets[ends] == socket else { return }
    sockets[ends] = nil
  }

  /// Returns whether a connection is open.
  func isOpen(_ ends: Ends) -> Bool {
    sockets[ends] != nil
  }

  /// Records that the peer of a TLS session sends nothing more (close_notify; RFC 8446, 6.1).
  func noteClose(of session: UInt) {
    closedSessions.insert(session)
  }

  /// Returns whether the peer of a session has sent a close_notify since the last call, and removes
  /// the record.
  func takeClose(of session: UInt) -> Bool {
    closedSessions.remove(session) != nil
  }

  /// Records why the certificate of a connection is not accepted: the first fault of its chain.
  func note(_ fault: CertificateFault, in context: UInt) {
    if faults[context] == nil { faults[context] = fault }
  }

  /// Returns why the certificate of a connection was not accepted, and removes the record.
  func takeFault(in context: UInt) -> CertificateFault? {
    faults.removeValue(forKey: context)
  }

  /// Returns whether an idle HTTP/1 connection has unread bytes; false for an unknown connection.
  ///
  /// Over TLS, the bytes may be a session ticket or a close_notify instead of surplus bytes after a
  /// body. Then the only cost is a new connection.
  func holdsSurplus(_ ends: Ends) -> Bool {
    guard let socket = sockets[ends] else { return false }
    var byte: UInt8 = 0
    return unsafe recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
  }

  private static func localPort(of socket: Int32) -> Int32? {
    var name = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    // Both families keep the port at the same offset.
    let code = unsafe withUnsafeMutablePointer(to: &name) { name in
      unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(socket, $0, &length) }
    }
    return code == 0 ? Int32(UInt16(bigEndian: name.sin6_port)) : nil
  }
}
