internal import Glibc

/// The reading end of a pipe that a filter writes to.
struct PipeSink {
  private(set) var descriptor: Int32
  private(set) var bytes: [UInt8] = []
  /// The maximum number of bytes to keep; beyond it, the first bytes are discarded.
  private let keeps: Int

  init(_ descriptor: Int32, keeps: Int = .max) {
    self.descriptor = descriptor
    self.keeps = keeps
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  var hasEnded: Bool { descriptor < 0 }

  /// Reads all available bytes and closes the descriptor at the end of the stream.
  ///
  /// - Returns: the number of line feeds read.
  mutating func read() -> Int {
    var (lineFeeds, buffer) = (0, [UInt8](repeating: 0, count: 64 << 10))
    // The loop is limited, so that a filter that writes without end does not block the others.
    for _ in 0..<16 where descriptor >= 0 {
      let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { break }
      guard count > 0 else {
        close()
        break
      }
      lineFeeds += buffer[..<count].count { $0 == UInt8(ascii: "\n") }
      bytes += buffer[..<count]
      if bytes.count > keeps { bytes.removeFirst(bytes.count - keeps) }
      if count < buffer.count { break }
    }
    return lineFeeds
  }

  mutating func close() {
    guard descriptor >= 0 else { return }
    Glibc.close(descriptor)
    descriptor = -1
  }
}
