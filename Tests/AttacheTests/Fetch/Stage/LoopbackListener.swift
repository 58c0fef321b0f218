import Glibc
import Testing

/// A TCP port on 127.0.0.N that takes connections and says nothing.
final class LoopbackListener {
  let port: UInt16
  private let descriptor: Int32

  /// - Parameter host: the last byte of the address.
  init(host: UInt8) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = (0x7F00_0000 | UInt32(host)).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let codes = unsafe withUnsafeMutablePointer(to: &name) { name in
      unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        [unsafe bind(descriptor, name, length), listen(descriptor, 16), unsafe getsockname(descriptor, name, &length)]
      }
    }
    port = UInt16(bigEndian: name.sin_port)
    try #require(codes == [0, 0, 0])
  }

  deinit {
    close(descriptor)
  }

  /// Whether somebody has connected since this was last asked.
  var hasConnection: Bool {
    let connection = accept(descriptor, nil, nil)
    guard connection >= 0 else { return false }
    close(connection)
    return true
  }
}
