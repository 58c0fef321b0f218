internal import Attache
internal import Glibc

extension WrittenEndpoint {
  /// Listens at this endpoint for TCP connections.
  ///
  /// - Returns: a descriptor that does not block and belongs to the caller, and the endpoint with the port
  ///   that the system chose for port 0.
  /// - Throws: ``SystemError`` of the call that failed.
  func listen() throws(SystemError) -> (descriptor: Int32, endpoint: WrittenEndpoint) {
    let family = if case .v6 = address { AF_INET6 } else { AF_INET }
    let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    let descriptor = try SystemError.check("socket", socket(family, Int32(kind), 0))
    do throws(SystemError) {
      var isReusable: Int32 = 1
      _ = try SystemError.check(
        "setsockopt", unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReusable, socklen_t(MemoryLayout<Int32>.size)))
      _ = try SystemError.check("bind", bind(descriptor))
      _ = try SystemError.check("listen", Glibc.listen(descriptor, 128))
      // Both kinds of address have the port at the same place.
      var name = sockaddr_in6()
      var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
      let result = unsafe withUnsafeMutablePointer(to: &name) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
      }
      _ = try SystemError.check("getsockname", result)
      return (descriptor, WrittenEndpoint(address, port: UInt16(bigEndian: name.sin6_port)))
    } catch {
      close(descriptor)
      throw error
    }
  }

  private func bind(_ descriptor: Int32) -> Int32 {
    switch address {
    case .v4(let bits):
      var name = sockaddr_in()
      (name.sin_family, name.sin_port, name.sin_addr.s_addr) = (sa_family_t(AF_INET), port.bigEndian, bits.bigEndian)
      return unsafe withUnsafePointer(to: &name) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    case .v6(let bits):
      var name = sockaddr_in6()
      (name.sin6_family, name.sin6_port) = (sa_family_t(AF_INET6), port.bigEndian)
      unsafe withUnsafeMutableBytes(of: &name.sin6_addr) { unsafe $0.storeBytes(of: bits.bigEndian, as: UInt128.self) }
      return unsafe withUnsafePointer(to: &name) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
        }
      }
    }
  }
}
