internal import Glibc

/// The reading end of something that a command writes to.
struct CommandSink {
  private(set) var descriptor: Int32
  private(set) var bytes: [UInt8] = []
  /// Beyond so many bytes, the first are forgotten.
  private let keeps: Int

  init(_ descriptor: Int32, keeps: Int = .max) {
    self.descriptor = descriptor
    self.keeps = keeps
  }

  /// Reads all that is there, and closes at the end of it.
  ///
  /// - Returns: how many line feeds were in it.
  mutating func read() -> Int {
    var (lineFeeds, buffer) = (0, [UInt8](repeating: 0, count: 64 << 10))
    // Who writes without end is not read without end: others wait for their turn.
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
