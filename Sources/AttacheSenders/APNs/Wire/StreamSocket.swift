internal import Attache
internal import CLinux
internal import Glibc

/// Non-blocking TCP sockets.
enum StreamSocket {
  /// Starts to connect.
  ///
  /// - Returns: the descriptor, which the caller closes. It becomes writable when the attempt has
  ///   succeeded or failed (``outcome(of:)``).
  /// - Throws: ``SystemError`` of `socket` or `connect`.
  static func connect(to address: IPAddress, port: UInt16) throws(SystemError) -> Int32 {
    let family =
      switch address {
      case .v4: AF_INET
      case .v6: AF_INET6
      }
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError(call: "socket", number: errno) }
    var one: Int32 = 1
    _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    let result = begin(descriptor, address, port)
    guard result == 0 || errno == EINPROGRESS else {
      let number = errno
      close(descriptor)
      throw SystemError(call: "connect", number: number)
    }
    return descriptor
  }

  /// Returns the outcome of an attempt to connect.
  ///
  /// - Returns: nil when connected; otherwise the error.
  static func outcome(of descriptor: Int32) -> SystemError? {
    var number: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &length) == 0 else {
      return SystemError(call: "getsockopt", number: errno)
    }
    return number == 0 ? nil : SystemError(call: "connect", number: number)
  }

  private static func begin(_ descriptor: Int32, _ address: IPAddress, _ port: UInt16) -> Int32 {
    switch address {
    case .v4(let bits):
      var socketAddress = sockaddr_in()
      socketAddress.sin_family = sa_family_t(AF_INET)
      socketAddress.sin_port = port.bigEndian
      socketAddress.sin_addr.s_addr = bits.bigEndian
      return unsafe withUnsafePointer(to: &socketAddress) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { socketAddress in
          unsafe Glibc.connect(descriptor, socketAddress, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    case .v6(let bits):
      var socketAddress = sockaddr_in6()
      socketAddress.sin6_family = sa_family_t(AF_INET6)
      socketAddress.sin6_port = port.bigEndian
      unsafe withUnsafeMutableBytes(of: &socketAddress.sin6_addr) { unsafe $0.storeBytes(of: bits.bigEndian, as: UInt128.self) }
      return unsafe withUnsafePointer(to: &socketAddress) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { socketAddress in
          unsafe Glibc.connect(descriptor, socketAddress, socklen_t(MemoryLayout<sockaddr_in6>.size))
        }
      }
    }
  }
}
