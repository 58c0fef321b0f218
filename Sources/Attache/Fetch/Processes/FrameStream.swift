internal import CFetcher
internal import Glibc

/// One end of the connection between a host and a fetcher: frames that are gathered before they are
/// sent, and what has come and is not yet taken apart. Never waits.
struct FrameStream: ~Copyable {
  /// Why the connection is of no use any more.
  enum Fault: Error {
    /// The other end has closed it, or is gone.
    case ended
    case invalid
  }

  let socket: Int32
  private var input = [UInt8](repeating: 0, count: 64 << 10)
  private var filled = 0
  private var output: [UInt8] = []
  private var sent = 0

  /// - Parameter socket: a stream socket that does not block; closed with this value.
  init(_ socket: Int32) {
    self.socket = socket
  }

  deinit {
    close(socket)
  }

  /// Two connected sockets that do not block, closed on exec.
  static func pair() throws(SystemError) -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    _ = try SystemError.check("socketpair", unsafe fetcher_pair(&ends, false))
    return (ends[0], ends[1])
  }

  /// The bytes that are still to be sent.
  var unsentBytes: Int { output.count - sent }

  /// Gathers what is to be sent.
  mutating func gather(_ append: (inout [UInt8]) -> Void) {
    append(&output)
  }

  /// Sends what has been gathered, as far as the other end takes it at the moment.
  mutating func flush() throws(Fault) {
    while sent < output.count {
      let count = unsafe output.withUnsafeBytes { bytes in
        unsafe fetcher_write(socket, bytes.baseAddress?.advanced(by: sent), bytes.count - sent)
      }
      if count > 0 {
        sent += count
      } else if errno == EAGAIN || errno == ENOBUFS {
        if sent > 1 << 20 {
          output.removeFirst(sent)
          sent = 0
        }
        return
      } else if errno != EINTR {
        throw .ended
      }
    }
    output.removeAll(keepingCapacity: output.capacity <= 1 << 18)
    sent = 0
  }

  /// Takes what has come, once, and hands on each whole frame in it, without its length.
  ///
  /// - Returns: whether something had come.
  /// - Throws: ``Fault`` at the connection's end, at a frame that is too long, and where `take`
  ///   throws.
  @discardableResult
  mutating func receive(_ take: (ArraySlice<UInt8>) throws(Fault) -> Void) throws(Fault) -> Bool {
    let count = unsafe input.withUnsafeMutableBytes { bytes in
      unsafe fetcher_read(socket, bytes.baseAddress?.advanced(by: filled), bytes.count - filled)
    }
    guard count > 0 else {
      if count < 0, errno == EAGAIN || errno == EINTR { return false }
      throw .ended
    }
    filled += count
    var start = 0
    while filled - start >= FetcherFrame.headBytes {
      let length = Int(unsafe input.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: start, as: UInt32.self) })
      guard length <= FetcherFrame.maximumBytes else { throw .invalid }
      let end = start + FetcherFrame.headBytes + length
      guard end <= filled else { break }
      try take(input[start + FetcherFrame.headBytes..<end])
      start = end
    }
    if start > 0 {
      unsafe input.withUnsafeMutableBytes { bytes in
        guard let first = bytes.baseAddress else { return }
        unsafe memmove(first, first + start, filled - start)
      }
      filled -= start
    }
    return true
  }
}
