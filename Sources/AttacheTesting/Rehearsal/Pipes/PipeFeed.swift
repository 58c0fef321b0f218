internal import Attache
internal import Glibc

/// The writing end of a filter's input. It counts the lines that the filter has read.
struct PipeFeed {
  private let descriptor: Int32
  private let bytes: [UInt8]
  /// The offset after each line.
  private let lineEnds: [Int]
  private(set) var written = 0
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
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  var isWritten: Bool { isClosed || written == bytes.count }

  /// The descriptor to wait for; -1 when there is nothing to write.
  var waitsFor: Int32 { isWritten ? -1 : descriptor }

  /// Writes as much as the pipe accepts. When the filter closes its end, this end closes too.
  mutating func write() {
    while !isWritten {
      let count = unsafe bytes[written...].withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno != EAGAIN { close() }
      guard count > 0 else { return }
      written += count
    }
  }

  /// The number of lines that the filter has read completely; 0 when this end is closed.
  var takenLines: Int {
    var waiting: Int32 = 0
    guard !isClosed, unsafe ioctl(descriptor, UInt(FIONREAD), &waiting) == 0 else { return 0 }
    let taken = written - Int(waiting)
    // The ends are in ascending order, so a binary search for the first end beyond `taken` gives
    // the number.
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
