internal import Glibc

extension IPAddress {
  /// Reads the address of a socket address of family `AF_INET` or `AF_INET6`; nil for any other
  /// family or if `length` is too short.
  ///
  /// - Parameters:
  ///   - socketAddress: at least `length` readable bytes.
  ///   - length: the size that came with the socket address, in bytes.
  package init?(socketAddress: UnsafeRawPointer, length: Int) {
    guard length >= MemoryLayout<sa_family_t>.size else { return nil }
    switch Int32(unsafe socketAddress.loadUnaligned(as: sa_family_t.self)) {
    case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
      let address = unsafe socketAddress.loadUnaligned(as: sockaddr_in.self)
      self = .v4(UInt32(bigEndian: address.sin_addr.s_addr))
    case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
      let address = unsafe socketAddress.loadUnaligned(as: sockaddr_in6.self)
      self = .v6(unsafe withUnsafeBytes(of: address.sin6_addr) { unsafe UInt128(bigEndian: $0.loadUnaligned(as: UInt128.self)) })
    default: return nil
    }
  }
}
