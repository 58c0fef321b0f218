/// The reader's side of the window: counts the lines, joins those that pass into runs, and gives
/// candidates their places.
///
/// A line that passes costs no lock and no allocation: the window sees a run of them once, at the
/// latest when the input pauses. The reader's thread owns it.
struct WindowInput {
  private let window: OutputWindow
  private var run: Segment?
  private var runFirst = 1
  private var runKinds: [PassingLine] = []
  private var isInsideOverlong = false
  private var passed = [Int](repeating: 0, count: PassingLine.allCases.count)
  /// The lines so far, blank ones included.
  private(set) var lines = 0
  /// The bytes so far, line endings included.
  private(set) var bytes = 0

  init(window: OutputWindow) {
    self.window = window
  }

  /// Passes a line on as it came.
  mutating func pass(_ line: Segment, as kind: PassingLine) {
    if let joined = run?.joined(with: line) {
      run = joined
    } else {
      flush()
      run = line
      runFirst = lines + 1
    }
    count(line, as: kind)
    if window.limits.isReporting { runKinds.append(kind) }
  }

  /// Passes on an envelope that stays shut, with a record of its own: the report says why.
  mutating func pass(_ line: Segment, unopened envelope: UnopenedEnvelope) {
    flush()
    lines += 1
    bytes += line.count
    let record = ReportRecord(line: lines, outcome: .passthrough, reason: .payloadEnvelope, elapsed: .zero, why: envelope.why)
    window.append(line, for: .payload(record), when: isFollowed(line) ? .room : .quiet)
  }

  /// Copies a line with candidates out of its block and gives it its place, waiting until there is
  /// one.
  ///
  /// - Parameter jobs: how many payloads the line has that are to be decided.
  /// - Returns: nil when no further candidate is to be started; the line was passed on as it came,
  ///   ``PassingLine/cancelled``.
  mutating func reserve(_ line: Segment, jobs: Int = 1) -> WindowTicket? {
    flush()
    guard let ticket = window.reserve(line: lines + 1, bytes: line.copy(), jobs: jobs, when: isFollowed(line) ? nil : .quiet) else {
      pass(line, as: .cancelled)
      return nil
    }
    lines += 1
    bytes += line.count
    return ticket
  }

  /// Passes on a piece of an overlong line.
  mutating func passOverlong(_ piece: Segment, isLast: Bool) {
    flush()
    if isInsideOverlong {
      bytes += piece.count
      if piece.count > 0 { window.append(piece, for: .none) }
    } else {
      count(piece, as: .overlong)
      window.append(
        piece, for: .passing(first: lines, count: 1, kinds: window.limits.isReporting ? [.overlong] : []),
        when: window.limits.isOrdered ? .room : .quiet)
    }
    isInsideOverlong = !isLast
  }

  /// Hands over the lines that passed since the last time; due before the reader waits for
  /// anything.
  mutating func flush() {
    guard let run else { return }
    window.append(run, for: .passing(first: runFirst, count: lines + 1 - runFirst, kinds: runKinds), when: isFollowed(run) ? .room : .quiet)
    self.run = nil
    runKinds = []
  }

  /// Hands over what is left and says that no line will follow.
  mutating func finish() {
    flush()
    window.finish()
  }

  /// What became of the lines that passed.
  var summary: Summary {
    var summary = Summary()
    for kind in PassingLine.allCases { summary.count(kind.outcome, kind.reason, lines: passed[Int(kind.rawValue)]) }
    summary.bytesRead = bytes
    return summary
  }

  /// Whether a line may leave before others: unordered, the last one may not when it has no ending,
  /// since the next would be joined to it.
  private func isFollowed(_ lines: Segment) -> Bool {
    unsafe window.limits.isOrdered || lines.withUnsafeBytes { unsafe $0.last == UInt8(ascii: "\n") }
  }

  private mutating func count(_ line: Segment, as kind: PassingLine) {
    lines += 1
    bytes += line.count
    passed[Int(kind.rawValue)] += 1
  }
}
