/// The reader's side of the window. Counts the lines, joins passing lines into runs, and reserves
/// entries for candidates.
///
/// A passing line needs no lock and no allocation: the window receives a whole run at once, at the
/// latest when the input pauses. Only the reader's thread may use it.
struct WindowInput {
  private let window: OutputWindow
  private var run: Segment?
  private var runFirst = 1
  private var runKinds: [PassingLine] = []
  /// Since when the run has waited, if it has.
  private var runSince: MonotonicInstant?
  private var isInsideOverlong = false
  private var passed = [Int](repeating: 0, count: PassingLine.allCases.count)
  /// The number of lines so far, including blank ones.
  private(set) var lines = 0
  /// The number of bytes so far, including line endings.
  private(set) var bytes = 0

  init(window: OutputWindow) {
    self.window = window
  }

  /// Passes a line through unchanged.
  mutating func pass(_ line: Segment, as kind: PassingLine) {
    if let joined = run?.joined(with: line) {
      run = joined
    } else {
      runSince = flush()
      run = line
      runFirst = lines + 1
    }
    count(line, as: kind)
    if window.limits.isReporting { runKinds.append(kind) }
  }

  /// Passes an envelope that cannot be opened, with its own record that gives the reason in the
  /// report.
  mutating func pass(_ line: Segment, unopened envelope: UnopenedEnvelope) {
    let since = flush()
    lines += 1
    bytes += line.count
    let record = ReportRecord(line: lines, outcome: .passthrough, reason: .payloadEnvelope, elapsed: .zero, why: envelope.why)
    window.append(line, for: .payload(record), when: isFollowed(line) ? .room : .quiet, since: since)
  }

  /// Copies a line with candidates out of its block and reserves an entry, waiting until there is
  /// one.
  ///
  /// - Parameters:
  ///   - jobs: the number of payloads in the line to decide.
  ///   - since: since when the line has waited, if it has.
  /// - Returns: nil if no further candidate may start. The line was then passed unchanged as
  ///   ``PassingLine/cancelled``.
  mutating func reserve(_ line: Segment, jobs: Int = 1, since: MonotonicInstant? = nil) -> WindowTicket? {
    let flushed = flush()
    guard
      let ticket = window.reserve(
        line: lines + 1, bytes: line.copy(), jobs: jobs, when: isFollowed(line) ? nil : .quiet, since: since ?? flushed)
    else {
      pass(line, as: .cancelled)
      return nil
    }
    lines += 1
    bytes += line.count
    return ticket
  }

  /// Passes a piece of an overlong line.
  mutating func passOverlong(_ piece: Segment, isLast: Bool) {
    let since = flush()
    if isInsideOverlong {
      bytes += piece.count
      if piece.count > 0 { window.append(piece, for: .none) }
    } else {
      count(piece, as: .overlong)
      window.append(
        piece, for: .passing(first: lines, count: 1, kinds: window.limits.isReporting ? [.overlong] : []),
        when: window.limits.isOrdered ? .room : .quiet, since: since)
    }
    isInsideOverlong = !isLast
  }

  /// Appends the passing lines since the last call to the window. Call this before the reader waits
  /// for anything.
  ///
  /// - Returns: since when they have waited, if they have and there is a report.
  @discardableResult
  mutating func flush() -> MonotonicInstant? {
    guard let run else { return nil }
    let account = WindowEntry.Account.passing(first: runFirst, count: lines + 1 - runFirst, kinds: runKinds)
    let since = window.append(run, for: account, when: isFollowed(run) ? .room : .quiet, since: runSince)
    self.run = nil
    runKinds = []
    runSince = nil
    return since
  }

  /// Appends the remaining lines and records that no line will follow.
  mutating func finish() {
    flush()
    window.finish()
  }

  /// The counts of the lines that passed.
  var summary: Summary {
    var summary = Summary()
    for kind in PassingLine.allCases { summary.count(kind.outcome, kind.reason, lines: passed[Int(kind.rawValue)]) }
    summary.bytesRead = bytes
    return summary
  }

  /// Whether a line may be written before others. In unordered mode, a last line without a line
  /// ending may not, because the next line would be joined to it.
  private func isFollowed(_ lines: Segment) -> Bool {
    unsafe window.limits.isOrdered || lines.withUnsafeBytes { unsafe $0.last == UInt8(ascii: "\n") }
  }

  private mutating func count(_ line: Segment, as kind: PassingLine) {
    lines += 1
    bytes += line.count
    passed[Int(kind.rawValue)] += 1
  }
}
