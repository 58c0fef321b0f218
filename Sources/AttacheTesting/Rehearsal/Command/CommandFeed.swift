internal import Attache
internal import Glibc

/// The writing end of a command's standard input, and what it has taken out of it.
struct CommandFeed {
  private let descriptor: Int32
  private let bytes: [UInt8]
  /// The offset behind each line.
  private let lineEnds: [Int]
  private var written = 0
  private(set) var isClosed = false

  init(_ descriptor: Int32, lines: [[UInt8]], endsWithLineFeed: Bool) {
    self.descriptor = descriptor
    var (bytes, lineEnds): ([UInt8], [Int]) = ([], [])
    for (number, line) in lines.enumerated() {
      bytes += line
      if endsWithLineFeed || number < lines.count - 1 { bytes.append(UInt8(ascii: "\n")) }
      lineEnds.append(bytes.count)
    }
    (self.bytes, self.lineEnds) = (bytes, lineEnds)
  }

  var isWritten: Bool { isClosed || written == bytes.count }

  /// The descriptor to wait for; -1 when there is nothing to write.
  var waitsFor: Int32 { isWritten ? -1 : descriptor }

  /// Writes what the pipe has room for; a command that closes its end takes nothing more.
  mutating func write() {
    while !isWritten {
      let count = unsafe bytes[written...].withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno != EAGAIN { close() }
      guard count > 0 else { return }
      written += count
    }
  }

  /// How many lines the command has taken whole.
  var takenLines: Int {
    var waiting: Int32 = 0
    guard !isClosed, unsafe ioctl(descriptor, UInt(FIONREAD), &waiting) == 0 else { return 0 }
    let taken = written - Int(waiting)
    // The ends are in order: the first that lies beyond tells the number.
    var (low, high) = (0, lineEnds.count)
    while low < high {
      let middle = (low + high) / 2
      if lineEnds[middle] <= taken { low = middle + 1 } else { high = middle }
    }
    return low
  }

  mutating func close() {
    guard !isClosed else { return }
    isClosed = true
    Glibc.close(descriptor)
  }
}
