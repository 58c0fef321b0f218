internal import Glibc

/// A port of 127.0.0.1 that nobody serves: connections to it are refused, or their packets dropped.
final class ReservedPort: Sendable {
  enum Kind {
    /// Bound, and not listened to: the kernel answers with a reset.
    case refusing
    /// Listened to with a queue that is full: the kernel drops further packets.
    case dropping
  }

  let port: Int
  private let descriptors: [Int32]

  init(_ kind: Kind) throws(StageError) {
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let listener = try Self.socket()
    var descriptors = [listener]
    do {
      unsafe try Self.check("bind", Self.with(&name) { address, length in unsafe bind(listener, address, length) })
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      unsafe try Self.check("getsockname", Self.with(&name) { address, _ in unsafe getsockname(listener, address, &length) })
      if case .dropping = kind {
        try Self.check("listen", listen(listener, 0))
        // A queue of length 0 holds one connection (Linux: sk_acceptq_is_full); a second one finds out that it is full.
        for _ in 0..<2 {
          let filler = try Self.socket()
          descriptors.append(filler)
          _ = unsafe Self.with(&name) { address, length in unsafe connect(filler, address, length) }
        }
      }
    } catch {
      for descriptor in descriptors { close(descriptor) }
      throw error
    }
    port = Int(UInt16(bigEndian: name.sin_port))
    self.descriptors = descriptors
  }

  deinit {
    for descriptor in descriptors { close(descriptor) }
  }

  private static func socket() throws(StageError) -> Int32 {
    let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    try check("socket", descriptor)
    return descriptor
  }

  private static func with(_ name: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    unsafe withUnsafeMutablePointer(to: &name) { name in
      unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }

  private static func check(_ call: String, _ result: Int32) throws(StageError) {
    guard result >= 0 else { throw .system(call: call, errno: errno) }
  }
}
