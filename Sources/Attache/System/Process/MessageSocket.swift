internal import CChild
internal import Glibc

/// Sockets between processes whose messages keep their bounds, and may have a descriptor: the kernel
/// frames them, where a ``FrameStream`` carries no descriptor.
enum MessageSocket {
  /// The longest message, in bytes.
  static let maximumBytes = 1 << 10

  /// Creates two connected sockets that are closed on exec.
  static func pair() throws(SystemError) -> (own: Int32, other: Int32) {
    var ends: [Int32] = [-1, -1]
    _ = try SystemError.check("socketpair", unsafe child_pair(&ends))
    return (ends[0], ends[1])
  }

  /// Sends a message, without waiting.
  ///
  /// - Parameter descriptor: still belongs to the caller; -1 for none.
  /// - Returns: whether it was sent; otherwise see `errno`.
  static func send(_ message: [UInt8], over socket: Int32, with descriptor: Int32 = -1) -> Bool {
    unsafe child_send(socket, message, message.count, descriptor) > 0
  }

  /// Receives a message.
  ///
  /// - Returns: the message, and the descriptor that came with it, which belongs to the caller, or -1;
  ///   nil at the end.
  static func receive(from socket: Int32) -> (message: ArraySlice<UInt8>, descriptor: Int32)? {
    var (bytes, descriptor) = ([UInt8](repeating: 0, count: maximumBytes), Int32(-1))
    let count = unsafe child_receive(socket, &bytes, bytes.count, 0, &descriptor)
    guard count > 0 else {
      // An empty message may have a descriptor, too.
      if descriptor >= 0 { close(descriptor) }
      return nil
    }
    return (bytes[..<count], descriptor)
  }
}
