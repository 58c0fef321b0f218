import Glibc
import Testing

/// A socket at a free port of 127.0.0.N, which no other process can take. It is closed with this
/// object.
final class LoopbackSocket: Sendable {
  let port: UInt16
  let descriptor: Int32

  /// - Parameters:
  ///   - host: the last byte of the address.
  ///   - backlog: how many connections may wait to be accepted; nil refuses all.
  init(_ type: __socket_type = SOCK_STREAM, host: UInt8 = 1, backlog: Int32? = nil) throws {
    descriptor = socket(AF_INET, Int32(type.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = (0x7F00_0000 | UInt32(host)).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let codes = unsafe withUnsafeMutablePointer(to: &name) { name in
      unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        [unsafe bind(descriptor, name, length), backlog.map { listen(descriptor, $0) } ?? 0, unsafe getsockname(descriptor, name, &length)]
      }
    }
    port = UInt16(bigEndian: name.sin_port)
    try #require(codes == [0, 0, 0])
  }

  deinit {
    close(descriptor)
  }
}
