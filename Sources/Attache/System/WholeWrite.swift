internal import Glibc

/// Writes that complete even when the descriptor accepts only a part at a time.
package enum WholeWrite {
  /// Writes all bytes.
  ///
  /// - Parameter waits: whether it waits when a non-blocking descriptor is full.
  /// - Throws: ``SystemError`` of `write` or `poll`.
  package static func write(_ bytes: [UInt8], to descriptor: Int32, waits: Bool = true) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written >= 0 {
        rest = rest.dropFirst(written)
      } else if errno == EAGAIN, waits {
        try waitUntilWritable(descriptor)
      } else if errno != EINTR {
        throw SystemError(call: "write", number: errno)
      }
    }
  }

  /// Waits until a descriptor accepts bytes, or reports an error at the next write.
  ///
  /// - Throws: ``SystemError`` of `poll`.
  static func waitUntilWritable(_ descriptor: Int32) throws(SystemError) {
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    while unsafe poll(&request, 1, -1) == -1 {
      guard errno == EINTR else { throw SystemError(call: "poll", number: errno) }
    }
  }

  /// Whether the reader of a pipe has closed it, so that the next write would fail.
  package static func isAbandoned(_ descriptor: Int32) -> Bool {
    var request = pollfd(fd: descriptor, events: 0, revents: 0)
    return unsafe poll(&request, 1, 0) > 0 && request.revents & Int16(POLLERR) != 0
  }
}
