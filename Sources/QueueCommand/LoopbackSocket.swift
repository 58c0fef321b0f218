import Attache
import Glibc

/// Listening sockets on 127.0.0.1.
enum LoopbackSocket {
  /// The connections that the kernel keeps until they are accepted.
  private static let backlog: Int32 = 128

  /// - Parameter port: with 0, the system chooses one.
  /// - Returns: the non-blocking socket, which the caller closes, and its port.
  /// - Throws: ``SystemError`` of the call that failed.
  static func listen(port: UInt16) throws(SystemError) -> (socket: Int32, port: UInt16) {
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = try SystemError.check("socket", socket(AF_INET, Int32(kind), 0))
    do throws(SystemError) {
      var one: Int32 = 1
      _ = try SystemError.check(
        "setsockopt", unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size)))
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      _ = try unsafe withUnsafeMutablePointer(to: &address) { pointer throws(SystemError) in
        try unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address throws(SystemError) in
          _ = try SystemError.check("bind", unsafe bind(descriptor, address, length))
          _ = try SystemError.check("listen", Glibc.listen(descriptor, backlog))
          _ = try SystemError.check("getsockname", unsafe getsockname(descriptor, address, &length))
        }
      }
      return (descriptor, UInt16(bigEndian: address.sin_port))
    } catch {
      close(descriptor)
      throw error
    }
  }
}
