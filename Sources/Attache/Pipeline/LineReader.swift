internal import Glibc

/// Reads a descriptor into blocks and splits them into lines, without copying a line that is whole.
///
/// A line keeps its ending (`\n` or `\r\n`), and a missing last one stays missing. A line that
/// breaks off at the end of a block is carried to the next, so every line lies in one piece. One
/// thread uses it; nothing but ``next()`` blocks.
package final class LineReader {
  /// The longest line that is yielded whole, in bytes before its `\n`: 1 MiB. A longer one is
  /// yielded in pieces.
  package static let maximumLine = 1 << 20

  /// What comes next.
  package enum Input {
    /// A whole line with its ending.
    case line(Segment)
    /// A piece of a line that is longer than the maximum; the last one may be empty.
    case overlong(Segment, isLast: Bool)
    /// No whole line is left in memory: the next call may wait for input.
    case pause
    /// The input has ended, and so has every line.
    case end
    /// The beginning of a line whose end did not come in time after a stop; ``stopped`` follows.
    case unfinished(Segment)
    /// The stop was requested, and every line that was begun is over.
    case stopped
  }

  private enum Arrival {
    case bytes, end, stopped
  }

  private let descriptor: Int32
  private let stop: ReadingStop
  private let blockSize: Int
  private let maximumLine: Int

  private var block: ByteBlock
  /// The first byte that was not yielded.
  private var start = 0
  /// The first byte that was not searched for a line's end.
  private var searched = 0
  /// The first byte that is free.
  private var filled = 0
  private var isInsideOverlong = false
  private var hasPaused = false
  private var ending: Input?

  /// - Parameters:
  ///   - descriptor: what is read; it is neither closed nor changed.
  ///   - padding: bytes that are readable after any line.
  ///   - blockSize: bytes of a block.
  ///   - maximumLine: the longest line that is yielded whole, in bytes before its `\n`.
  package init(
    descriptor: Int32, stop: ReadingStop, padding: Int, blockSize: Int = 256 << 10, maximumLine: Int = LineReader.maximumLine
  ) {
    self.descriptor = descriptor
    self.stop = stop
    self.blockSize = blockSize
    self.maximumLine = maximumLine
    block = ByteBlock(capacity: blockSize, padding: padding)
  }

  /// Gives what comes next, and waits for it if need be; after the end it gives the end again.
  ///
  /// - Throws: ``SystemError`` of `read` or `poll`.
  package func next() throws(SystemError) -> Input {
    while true {
      if let input = split() ?? ending { return input }
      guard hasPaused else {
        hasPaused = true
        return .pause
      }
      hasPaused = false
      switch try fill() {
      case .bytes: break
      case .end: return finish(.end)
      case .stopped: return finish(.stopped)
      }
    }
  }

  // MARK: - Splitting

  /// The next line, or piece of an overlong one, of what is in memory.
  private func split() -> Input? {
    let end = block.firstIndex(of: UInt8(ascii: "\n"), in: searched..<filled).map { $0 + 1 }
    searched = end ?? filled
    let length = (end.map { $0 - 1 } ?? filled) - start
    if isInsideOverlong || length > maximumLine {
      isInsideOverlong = end == nil
      return start < searched ? .overlong(cut(), isLast: end != nil) : nil
    }
    return end == nil ? nil : .line(cut())
  }

  /// What was searched and not yielded yet.
  private func cut() -> Segment {
    defer { start = searched }
    return Segment(block, start..<searched)
  }

  /// Closes what is open: the last line may have no ending, an overlong one must be told that it is
  /// over.
  private func finish(_ ending: Input) -> Input {
    self.ending = ending
    if isInsideOverlong {
      isInsideOverlong = false
      return .overlong(cut(), isLast: true)
    }
    guard start < filled else { return ending }
    if case .end = ending { return .line(cut()) }
    return .unfinished(cut())
  }

  // MARK: - Filling

  /// Waits for input and reads it behind what is there.
  private func fill() throws(SystemError) -> Arrival {
    makeRoom()
    while true {
      guard try waitForInput() else { return .stopped }
      switch try stop.isRequested ? takeToLineEnd() : take(block.capacity - filled) {
      case nil: continue
      case 0: return .end
      default: return .bytes
      }
    }
  }

  /// Reads to the end of the line that was begun, as far as it has come, and no byte further: what
  /// follows is for the process that reads the input next.
  private func takeToLineEnd() throws(SystemError) -> Int? {
    let first = filled
    while true {
      let count = try take(1)
      guard count == 1, block.firstIndex(of: UInt8(ascii: "\n"), in: filled - 1..<filled) == nil, filled < block.capacity,
        try stop.gate.wait(for: descriptor, until: .distantPast)
      else { return filled > first ? filled - first : count }
    }
  }

  /// Reads so many bytes at most behind what is there.
  ///
  /// - Returns: how many; 0 at the input's end, nil when there is nothing yet.
  private func take(_ count: Int) throws(SystemError) -> Int? {
    let free = unsafe block[filled..<filled + count]
    let taken = unsafe read(descriptor, free.baseAddress, free.count)
    guard taken < 0 else {
      filled += taken
      return taken
    }
    guard errno == EINTR || errno == EAGAIN else { throw SystemError(call: "read", number: errno) }
    return nil
  }

  /// Waits until there is something to read; false when reading is to stop: no line is half read,
  /// or the time for its end is over.
  private func waitForInput() throws(SystemError) -> Bool {
    while true {
      let limit = stop.finishLineBy
      if limit != nil, !(isInsideOverlong || start < filled) || stop.isOverdue { return false }
      if try stop.gate.wait(for: descriptor, until: limit) { return true }
    }
  }

  /// Goes on in a new block when this one is full or nearly so, and takes along the line that broke
  /// off.
  private func makeRoom() {
    let free = block.capacity - filled
    guard free == 0 || (start > 0 && free < blockSize / 16) else { return }
    let carried = filled - start
    let next = ByteBlock(capacity: capacity(carrying: carried), padding: block.padding)
    unsafe next[0..<carried].copyMemory(from: UnsafeRawBufferPointer(block[start..<filled]))
    (block, start, searched, filled) = (next, 0, searched - start, carried)
  }

  /// Twice what is carried, so that a long line is copied a constant number of times, but no more
  /// than the longest line needs.
  private func capacity(carrying carried: Int) -> Int {
    max(blockSize, min(2 * carried, maximumLine + 1))
  }
}
