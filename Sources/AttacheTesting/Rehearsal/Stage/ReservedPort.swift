internal import Attache
internal import Glibc

/// A port without a server: connections to it are refused, or their packets are dropped.
final class ReservedPort: Sendable {
  enum Kind {
    /// Bound but not listening: the kernel answers with a reset.
    case refusing
    /// Listening with a full queue: the kernel drops further packets.
    case dropping
  }

  let port: Int
  /// The connections that this object opened itself.
  let ownAttempts: Set<ConnectionCanary.Attempt>
  private let descriptors: [Int32]

  /// Binds the port on the calling thread, in that thread's network namespace.
  ///
  /// - Parameter port: 0 for a free port.
  init(_ kind: Kind, at address: IPAddress = .v4(0x7F00_0001), port: UInt16 = 0) throws(StageError) {
    let name = SocketName(address, port: port)
    let listener = try Self.socket(name.family)
    var descriptors = [listener]
    do {
      name.allow(listener)
      unsafe try Self.check("bind", name.with { unsafe bind(listener, $0, $1) })
      self.port = SocketName.port(of: listener) ?? Int(port)
      if case .dropping = kind {
        try Self.check("listen", listen(listener, 0))
        let name = SocketName(address, port: UInt16(self.port))
        // A queue of length 0 holds one connection (Linux: sk_acceptq_is_full). A second connection
        // confirms that it is full.
        for _ in 0..<2 {
          let filler = try Self.socket(name.family)
          descriptors.append(filler)
          _ = unsafe name.with { unsafe connect(filler, $0, $1) }
        }
      }
    } catch {
      for descriptor in descriptors { close(descriptor) }
      throw error
    }
    let own = descriptors.dropFirst().compactMap { SocketName.port(of: $0).map { UInt16($0) } }
    ownAttempts = Set(own.map { [port = self.port] in .init(isTCP: true, source: $0, address: address, port: UInt16(port)) })
    self.descriptors = descriptors
  }

  deinit {
    for descriptor in descriptors { close(descriptor) }
  }

  private static func socket(_ family: Int32) throws(StageError) -> Int32 {
    let descriptor = Glibc.socket(family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    try check("socket", descriptor)
    return descriptor
  }

  private static func check(_ call: String, _ result: Int32) throws(StageError) {
    guard result >= 0 else { throw .system(call: call, errno: errno) }
  }
}
