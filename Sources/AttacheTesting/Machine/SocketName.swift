internal import Attache
internal import Glibc

/// The address that a socket is bound or connected to: the bytes of a sockaddr_in or a
/// sockaddr_in6.
struct SocketName {
  let family: Int32
  private let bytes: [UInt8]

  /// - Parameter address: nil for all addresses of both families.
  init(_ address: IPAddress?, port: UInt16) {
    var bytes: [UInt8] = []
    func add(_ number: some FixedWidthInteger) { unsafe withUnsafeBytes(of: number) { unsafe bytes.append(contentsOf: $0) } }
    if case .v4(let bits) = address {
      family = AF_INET
      add(sa_family_t(AF_INET))
      add(port.bigEndian)
      add(bits.bigEndian)
      add(UInt64(0))
    } else {
      family = AF_INET6
      add(sa_family_t(AF_INET6))
      add(port.bigEndian)
      add(UInt32(0))
      if case .v6(let bits) = address { add(bits.bigEndian) } else { add(UInt128(0)) }
      add(UInt32(0))
    }
    self.bytes = bytes
  }

  /// Allows a socket to bind to this address although no interface has it. For IPv6, the route
  /// alone is not enough (IPV6_FREEBIND).
  func allow(_ descriptor: Int32) {
    var yes: Int32 = 1
    guard family == AF_INET6 else { return }
    unsafe setsockopt(descriptor, Int32(IPPROTO_IPV6), 78, &yes, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Passes the address to a system call.
  @unsafe func with(_ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return -1 }
      return unsafe call(start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
    }
  }

  /// Returns the port that a socket is bound to; nil when the descriptor is not a socket.
  static func port(of descriptor: Int32) -> Int? {
    var name = [UInt8](repeating: 0, count: 28)
    var length = socklen_t(name.count)
    let result = unsafe name.withUnsafeMutableBytes { name in
      guard let start = name.baseAddress else { return Int32(-1) }
      return unsafe getsockname(descriptor, start.assumingMemoryBound(to: sockaddr.self), &length)
    }
    // Both structures store the port after the family, in network byte order.
    return result == 0 ? Int(name[2]) << 8 | Int(name[3]) : nil
  }
}
