internal import Glibc

/// Reads a descriptor into blocks and splits them into lines, without copying a complete line.
///
/// A line keeps its ending (`\n` or `\r\n`); a missing last one is not added. A line that is
/// incomplete at the end of a block is moved to the next, so every line is contiguous. Only one
/// thread may use it. Only ``next()`` blocks.
package final class LineReader {
  /// The maximum length of a line that is returned whole, in bytes before its `\n`: 1 MiB. A longer
  /// one is returned in pieces.
  package static let maximumLine = 1 << 20

  /// The next part of the input.
  package enum Input {
    /// A whole line with its ending.
    case line(Segment)
    /// A piece of a line that is longer than the maximum; the last one may be empty.
    case overlong(Segment, isLast: Bool)
    /// No complete line is left in memory. The next call may wait for input.
    case pause
    /// The input has ended and all lines were returned.
    case end
    /// The beginning of a line whose end did not arrive in time after a stop; ``stopped`` follows.
    case unfinished(Segment)
    /// The stop was requested, and no line is half read.
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
  /// The offset of the first byte that was not returned.
  private var start = 0
  /// The offset of the first byte that was not searched for a line ending.
  private var searched = 0
  /// The offset of the first free byte.
  private var filled = 0
  private var isInsideOverlong = false
  private var hasPaused = false
  private var ending: Input?

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - descriptor: the descriptor to read; it is neither closed nor changed.
  ///   - padding: the number of readable bytes after any line.
  ///   - blockSize: the size of a block in bytes.
  ///   - maximumLine: the maximum length of a line that is returned whole, in bytes before its
  ///     `\n`.
  package init(
    descriptor: Int32, stop: ReadingStop, padding: Int, blockSize: Int = 256 << 10, maximumLine: Int = LineReader.maximumLine
  ) {
    self.descriptor = descriptor
    self.stop = stop
    self.blockSize = blockSize
    self.maximumLine = maximumLine
    block = ByteBlock(capacity: blockSize, padding: padding)
  }

  /// Returns the next part of the input, and waits for it if necessary. After the end, it returns
  /// the end again.
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

  /// Returns the next line, or piece of an overlong one, that is in memory.
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

  /// Returns the bytes that were searched and not returned yet.
  private func cut() -> Segment {
    defer { start = searched }
    return Segment(block, start..<searched)
  }

  /// Returns what is incomplete: a last line without a line ending, or the last piece of an
  /// overlong one.
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

  /// Waits for input and reads it after the existing bytes.
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

  /// Reads the available bytes up to the end of the current line and none after it: they belong to
  /// the process that reads the input next.
  private func takeToLineEnd() throws(SystemError) -> Int? {
    let first = filled
    while true {
      let count = try take(1)
      guard count == 1, block.firstIndex(of: UInt8(ascii: "\n"), in: filled - 1..<filled) == nil, filled < block.capacity,
        try stop.gate.wait(for: descriptor, until: .distantPast)
      else { return filled > first ? filled - first : count }
    }
  }

  /// Reads up to this number of bytes after the existing ones.
  ///
  /// - Returns: the number of bytes; 0 at the end of the input, nil if there is nothing yet.
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

  /// Waits until there is input. Returns false if reading must stop: no line is half read, or the
  /// time for its end is over.
  private func waitForInput() throws(SystemError) -> Bool {
    while true {
      let limit = stop.finishLineBy
      if limit != nil, !(isInsideOverlong || start < filled) || stop.isOverdue { return false }
      if try stop.gate.wait(for: descriptor, until: limit) { return true }
    }
  }

  /// Switches to a new block if this one is full or nearly full, and copies the incomplete line
  /// there.
  private func makeRoom() {
    let free = block.capacity - filled
    guard free == 0 || (start > 0 && free < blockSize / 16) else { return }
    let carried = filled - start
    let next = ByteBlock(capacity: capacity(carrying: carried), padding: block.padding)
    unsafe next[0..<carried].copyMemory(from: UnsafeRawBufferPointer(block[start..<filled]))
    (block, start, searched, filled) = (next, 0, searched - start, carried)
  }

  /// Returns twice the carried size, so that a long line is copied a constant number of times, but
  /// no more than the longest line needs.
  private func capacity(carrying carried: Int) -> Int {
    max(blockSize, min(2 * carried, maximumLine + 1))
  }
}
