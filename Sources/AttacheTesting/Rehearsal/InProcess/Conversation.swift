internal import Attache

/// Writes a filter's input and reads its output, on one thread. The input stays open until every
/// line is answered.
struct Conversation {
  /// How a conversation ended.
  enum End { case closed, silence }

  private var pump: PipePump
  private let expectedLines: Int
  private let start: MonotonicInstant
  /// Called after each read.
  private let progressed: () -> Void
  private(set) var arrivals: [Duration] = []

  /// - Parameters:
  ///   - endsWithLineFeed: whether the last line has a line feed. If not, the input ends as soon as
  ///     it is written, because the line is complete only then.
  ///   - ends: the pipes to the filter, which the conversation closes.
  ///   - start: the instant from which arrivals are counted.
  init(
    _ lines: [[UInt8]], endsWithLineFeed: Bool, ends: PipePump.Ends, start: MonotonicInstant, progressed: @escaping () -> Void
  ) {
    pump = PipePump(ends, lines: lines, endsWithLineFeed: endsWithLineFeed)
    expectedLines = endsWithLineFeed ? lines.count : 0
    (self.start, self.progressed) = (start, progressed)
  }

  var received: [UInt8] { pump.output.bytes }

  /// Continues until the output is closed, or until no data moves in either direction for
  /// `timeLimit`.
  mutating func goOn(timeLimit: Duration) -> End {
    var last = MonotonicInstant.now
    while true {
      if pump.input.isWritten, arrivals.count >= expectedLines { pump.closeInput() }
      let left = timeLimit - last.duration(to: .now)
      guard left > .zero else { return .silence }
      pump.wait(atMost: Int32(clamping: left.nanoseconds / 1_000_000 + 1))
      if move() { last = .now }
      if pump.output.hasEnded { return .closed }
    }
  }

  /// Writes and reads what is possible, and returns whether that was anything.
  private mutating func move() -> Bool {
    let (written, read) = (pump.input.written, received.count)
    pump.feed()
    let lines = pump.read()
    arrivals += Array(repeating: start.duration(to: .now), count: lines)
    if received.count > read { progressed() }
    return pump.input.written > written || received.count > read
  }

  /// Ends the input, even if lines are unanswered.
  mutating func closeInput() {
    pump.closeInput()
  }

  mutating func close() {
    pump.close()
  }
}
