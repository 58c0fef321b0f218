/// The reader's side of the window. Counts the lines, joins passing lines into runs, and reserves
/// entries for candidates.
///
/// A passing line needs no lock and no allocation: the window receives a whole run at once, at the
/// latest when the input pauses. Only the reader's thread may use it.
struct WindowInput {
  private let window: OutputWindow
  private var run: Segment?
  private var runFirst = 1
  private var runReasons: [Reason] = []
  /// Since when the run has waited, if it has.
  private var runSince: MonotonicInstant?
  private var isInsideOverlong = false
  /// The number of lines that passed without a record of their own, by reason.
  private var passed: [(reason: Reason, lines: Int)] = []
  /// The number of lines so far, including blank ones.
  private(set) var lines = 0
  /// The number of bytes so far, including line endings.
  private(set) var bytes = 0

  init(window: OutputWindow) {
    self.window = window
  }

  /// Passes a line through unchanged.
  ///
  /// - Parameter note: what the report says about the line besides its reason.
  /// - Returns: whether no line is known to have passed for this reason before.
  @discardableResult
  mutating func pass(_ line: Segment, for reason: Reason, _ note: LineNote = LineNote()) -> Bool {
    if note.needsRecord, window.limits.isReporting {
      pass(line, recorded: record(of: reason, note))
      return true
    }
    if let joined = run?.joined(with: line) {
      run = joined
    } else {
      runSince = flush()
      run = line
      runFirst = lines + 1
    }
    if window.limits.isReporting { runReasons.append(reason) }
    return count(line, for: reason)
  }

  /// Passes a line through with its own record. The writer counts it.
  private mutating func pass(_ line: Segment, recorded record: ReportRecord) {
    let since = flush()
    lines += 1
    bytes += line.count
    window.append(line, for: .payload(record), when: isFollowed(line) ? .room : .quiet, since: since)
  }

  /// Returns the record of the next line.
  private func record(of reason: Reason, _ note: LineNote) -> ReportRecord {
    ReportRecord(line: lines + 1, decision: Decision(Outcome(ofPassingLine: reason), reason, note), elapsed: .zero)
  }

  /// Copies a line with candidates out of its block and reserves an entry, waiting until there is
  /// one.
  ///
  /// - Parameters:
  ///   - jobs: the number of payloads in the line to decide.
  ///   - since: since when the line has waited, if it has.
  ///   - note: what the report says about the line, should it pass.
  /// - Returns: nil if no further candidate may start. The line was then passed unchanged as
  ///   ``Reason/cancelled``.
  mutating func reserve(_ line: Segment, jobs: Int = 1, since: MonotonicInstant? = nil, _ note: LineNote = LineNote()) -> WindowTicket? {
    let flushed = flush()
    guard
      let ticket = window.reserve(
        line: lines + 1, bytes: line.copy(), jobs: jobs, when: isFollowed(line) ? nil : .quiet, since: since ?? flushed)
    else {
      pass(line, for: .cancelled, note)
      return nil
    }
    lines += 1
    bytes += line.count
    return ticket
  }

  /// Passes a piece of an overlong line.
  ///
  /// - Returns: whether it is the line's first.
  @discardableResult
  mutating func passOverlong(_ piece: Segment, isLast: Bool, _ note: LineNote = LineNote()) -> Bool {
    let since = flush()
    let isFirst = !isInsideOverlong
    isInsideOverlong = !isLast
    bytes += piece.count
    guard isFirst else {
      if piece.count > 0 { window.append(piece, for: .none) }
      return false
    }
    let record = record(of: .payloadSize, note)
    lines += 1
    window.append(piece, for: .payload(record), when: window.limits.isOrdered ? .room : .quiet, since: since)
    return true
  }

  /// Appends the passing lines since the last call to the window. Call this before the reader waits
  /// for anything.
  ///
  /// - Returns: since when they have waited, if they have and there is a report.
  @discardableResult
  mutating func flush() -> MonotonicInstant? {
    guard let run else { return nil }
    let account = WindowEntry.Account.passing(first: runFirst, count: lines + 1 - runFirst, reasons: runReasons)
    let since = window.append(run, for: account, when: isFollowed(run) ? .room : .quiet, since: runSince)
    self.run = nil
    runReasons = []
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
    for (reason, lines) in passed { summary.count(Outcome(ofPassingLine: reason), reason, lines: lines) }
    summary.bytesRead = bytes
    return summary
  }

  /// Whether a line may be written before others. In unordered mode, a last line without a line
  /// ending may not, because the next line would be joined to it.
  private func isFollowed(_ lines: Segment) -> Bool {
    unsafe window.limits.isOrdered || lines.withUnsafeBytes { unsafe $0.last == UInt8(ascii: "\n") }
  }

  /// - Returns: whether it is the first line with the reason.
  private mutating func count(_ line: Segment, for reason: Reason) -> Bool {
    lines += 1
    bytes += line.count
    for index in passed.indices where passed[index].reason == reason {
      passed[index].lines += 1
      return false
    }
    passed.append((reason, 1))
    return true
  }
}
