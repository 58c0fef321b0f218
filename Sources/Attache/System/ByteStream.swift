internal import CLinux
internal import Glibc

/// One end of a connection that carries bytes in order, made by a ``Machine``. Never blocks. It is
/// closed when it is released.
package protocol ByteStream: AnyObject, Sendable {
  /// What a loop on the same machine watches.
  var descriptor: Int32 { get }
  /// Sends bytes.
  ///
  /// - Returns: how many the other end takes at the moment; nil when the connection has ended.
  func write(_ bytes: UnsafeRawBufferPointer) -> Int?
  /// Receives bytes into a buffer, which must not be empty.
  ///
  /// - Returns: how many there were, 0 for none at the moment; nil when the connection has ended.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int?
}

/// One end of a connection between two threads or processes: a stream socket.
package final class SocketStream: ByteStream {
  package let descriptor: Int32

  /// - Parameter descriptor: a non-blocking stream socket. This object closes it.
  init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    close(descriptor)
  }

  /// Creates two connected non-blocking sockets that are closed on exec.
  static func pair() throws(SystemError) -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    _ = try SystemError.check("socketpair", unsafe linux_stream_pair(&ends))
    return (ends[0], ends[1])
  }

  package func write(_ bytes: UnsafeRawBufferPointer) -> Int? {
    while true {
      let count = unsafe linux_send(descriptor, bytes.baseAddress, bytes.count)
      if count >= 0 { return count }
      if errno != EINTR { return errno == EAGAIN || errno == ENOBUFS ? 0 : nil }
    }
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    let count = unsafe linux_receive(descriptor, buffer.baseAddress, buffer.count)
    if count > 0 { return count }
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : nil
  }
}

/// Bytes for the other end of a connection or a pipe, which takes them little by little.
package struct UnsentBytes {
  private var bytes: [UInt8] = []
  private var sent = 0

  package init() {}

  package var count: Int { bytes.count - sent }

  package mutating func append(_ body: (inout [UInt8]) -> Void) {
    body(&bytes)
  }

  /// Sends as much as the other end takes at the moment.
  ///
  /// - Parameter write: sends bytes. Returns how many were taken; nil when none ever will be.
  /// - Returns: false when `write` returned nil.
  package mutating func flush(_ write: (UnsafeRawBufferPointer) -> Int?) -> Bool {
    while sent < bytes.count {
      guard let count = unsafe bytes.withUnsafeBytes({ unsafe write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }) else { return false }
      sent += count
      // Sent bytes are removed even when there are always more to send.
      if sent >= 1 << 16, sent * 2 >= bytes.count {
        bytes.removeFirst(sent)
        sent = 0
      }
      if count == 0 { return true }
    }
    bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 18)
    sent = 0
    return true
  }
}
