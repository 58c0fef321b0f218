internal import Attache
internal import Glibc

/// Writes a filter's input to one pipe and reads its output from another, on one thread. The input
/// stays open until every line is answered.
struct Conversation {
  /// How a conversation ended.
  enum End { case closed, silence }

  private let input: DataPipe
  private let output: DataPipe
  private var rest: ArraySlice<UInt8>
  private let expectedLines: Int
  private let start: MonotonicInstant
  /// Called after each read.
  private let progressed: () -> Void
  private(set) var received: [UInt8] = []
  private(set) var arrivals: [Duration] = []

  /// - Parameters:
  ///   - endsWithLineFeed: whether the last line has a line feed. If not, the input ends as soon as
  ///     it is written, because the line is complete only then.
  ///   - input: its write end is used, and closed when all lines are answered.
  ///   - output: its read end is used.
  ///   - start: the instant from which arrivals are counted.
  init(
    _ lines: [[UInt8]], endsWithLineFeed: Bool, input: DataPipe, output: DataPipe, start: MonotonicInstant,
    progressed: @escaping () -> Void
  ) {
    let text = lines.map { $0 + [UInt8(ascii: "\n")] }.joined()
    rest = Array(text)[...]
    if !endsWithLineFeed { _ = rest.popLast() }
    expectedLines = endsWithLineFeed ? lines.count : 0
    (self.input, self.output, self.start, self.progressed) = (input, output, start, progressed)
    _ = fcntl(input.writeEnd, F_SETFL, O_NONBLOCK)
    _ = fcntl(output.readEnd, F_SETFL, O_NONBLOCK)
  }

  /// Continues until the output is closed, or until no data moves in either direction for
  /// `patience`.
  mutating func goOn(patience: Duration) -> End {
    var last = MonotonicInstant.now
    while true {
      closeWhenAnswered()
      var ends = [
        pollfd(fd: output.readEnd, events: Int16(POLLIN), revents: 0),
        pollfd(fd: rest.isEmpty ? -1 : input.writeEnd, events: Int16(POLLOUT), revents: 0),
      ]
      let left = patience - last.duration(to: .now)
      guard left > .zero else { return .silence }
      let timeout = Int32(clamping: left.nanoseconds / 1_000_000 + 1)
      guard unsafe poll(&ends, UInt(ends.count), timeout) > 0 else { continue }
      if ends[1].revents != 0, feed() { last = .now }
      if ends[0].revents != 0 {
        guard read() else { return .closed }
        last = .now
        progressed()
      }
    }
  }

  /// Ends the input, even if lines are unanswered.
  mutating func closeInput() {
    rest = []
    input.closeWrite()
  }

  private mutating func closeWhenAnswered() {
    if rest.isEmpty, arrivals.count >= expectedLines { input.closeWrite() }
  }

  private mutating func feed() -> Bool {
    let end = input.writeEnd
    let count = unsafe rest.withUnsafeBytes { unsafe write(end, $0.baseAddress, $0.count) }
    if count > 0 { rest = rest.dropFirst(count) }
    // The reader is gone; the output shows why.
    if count < 0, errno == EPIPE { closeInput() }
    return count > 0
  }

  /// - Returns: whether the output is still open.
  private mutating func read() -> Bool {
    var piece = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe Glibc.read(output.readEnd, &piece, piece.count)
    guard count > 0 else { return count < 0 && errno == EAGAIN }
    let arrival = start.duration(to: .now)
    received += piece[..<count]
    let lines = piece[..<count].count { $0 == UInt8(ascii: "\n") }
    arrivals += Array(repeating: arrival, count: lines)
    return true
  }
}
