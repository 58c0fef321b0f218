internal import Attache
internal import Glibc

/// A socket that is bound to an address, for a server to take over.
struct BoundSocket {
  enum Kind {
    case datagrams
    /// Which listens at once.
    case connections
  }

  let descriptor: Int32
  let port: Int

  /// Binds on the calling thread, in whose network it then is.
  ///
  /// - Parameters:
  ///   - address: nil for every address of both families.
  ///   - port: 0 for one that is free.
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

  /// Connections of an earlier server that are not quite over do not matter.
  private static func reuse(_ descriptor: Int32) throws(StageError) {
    var yes: Int32 = 1
    guard unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
      throw .system(call: "setsockopt", errno: errno)
    }
  }
}
