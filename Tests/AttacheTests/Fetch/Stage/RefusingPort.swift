import Glibc
import Testing

/// A TCP port of 127.0.0.1 that nobody listens at, and that nobody else can take.
final class RefusingPort {
  let port: UInt16
  private let descriptor: Int32

  init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let codes = unsafe withUnsafeMutablePointer(to: &name) { name in
      unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        [unsafe bind(descriptor, name, length), unsafe getsockname(descriptor, name, &length)]
      }
    }
    port = UInt16(bigEndian: name.sin_port)
    try #require(codes == [0, 0])
  }

  deinit {
    close(descriptor)
  }
}
