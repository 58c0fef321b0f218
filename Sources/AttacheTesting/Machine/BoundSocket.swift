internal import Attache
internal import Glibc

/// A socket that is bound to an address and that a server takes over.
struct BoundSocket {
  enum Kind {
    case datagrams
    /// Starts listening immediately.
    case connections
  }

  let descriptor: Int32
  let port: Int

  /// Binds a socket on the calling thread, in that thread's network namespace.
  ///
  /// - Parameters:
  ///   - address: nil for all addresses of both families.
  ///   - port: 0 for a free port.
  init(_ kind: Kind, at address: IPAddress?, port: UInt16) throws(StageError) {
    let name = SocketName(address, port: port)
    let type = kind == .datagrams ? SOCK_DGRAM : SOCK_STREAM
    let descriptor = socket(name.family, Int32(type.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .system(call: "socket", errno: errno) }
    do throws(StageError) {
      if kind == .connections { try Self.reuse(descriptor) }
      name.allow(descriptor)
      guard unsafe name.with({ unsafe bind(descriptor, $0, $1) }) == 0 else { throw StageError.system(call: "bind", errno: errno) }
      if kind == .connections, listen(descriptor, SOMAXCONN) != 0 { throw StageError.system(call: "listen", errno: errno) }
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    self.port = SocketName.port(of: descriptor) ?? Int(port)
  }

  /// Allows binding while connections of an earlier server still linger.
  private static func reuse(_ descriptor: Int32) throws(StageError) {
    var yes: Int32 = 1
    guard unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
      throw .system(call: "setsockopt", errno: errno)
    }
  }
}
