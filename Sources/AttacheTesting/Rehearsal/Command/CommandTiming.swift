internal import Attache

/// When a command's lines are due, when its input ends, and when it counts as hung: pure
/// bookkeeping over what was seen.
///
/// A payload's clock starts when the command has taken its last byte, and not before it may have a
/// place: with `--jobs N` in the scenario's flags, the (N+1)th payload has one when the first was
/// answered.
struct CommandTiming: Sendable, Hashable {
  struct Limits: Sendable, Hashable {
    var deadline: Duration
    /// What may lie between the two processes.
    var slack: Duration
    /// How long after the last deadline the command may go on.
    var hangAfter: Duration
    /// Payloads undecided at a time.
    var jobs: Int
  }

  let limits: Limits
  let count: Int
  private(set) var taken: [MonotonicInstant] = []
  private(set) var answered: [MonotonicInstant] = []
  private let start: MonotonicInstant
  private var inputEnd: MonotonicInstant?

  /// Until when nobody wonders that a command has not begun to read: a shell and an interpreter are
  /// up by then on a busy machine too.
  private static let startUp = Duration.seconds(2)

  init(count: Int, limits: Limits, start: MonotonicInstant) {
    self.count = count
    self.limits = limits
    self.start = start
  }

  /// The command has taken the last byte of so many lines.
  mutating func take(_ lines: Int, at now: MonotonicInstant) {
    while taken.count < lines { taken.append(now) }
  }

  /// No more is written to the command, and nobody sees any more what it takes: the clock of what
  /// it has not taken starts here.
  mutating func endInput(at now: MonotonicInstant) {
    inputEnd = now
  }

  /// A whole line of output has come.
  mutating func answer(at now: MonotonicInstant) {
    answered.append(now)
  }

  var isTaken: Bool { taken.count == count }
  var isAnswered: Bool { answered.count >= count }

  /// The instant by which a line must come, without the slack; nil while its clock stands still.
  ///
  /// - Parameter line: from 0.
  func due(_ line: Int) -> MonotonicInstant? {
    guard taken.indices.contains(line) else { return inputEnd?.advanced(by: limits.deadline) }
    guard line >= limits.jobs else { return taken[line].advanced(by: limits.deadline) }
    guard line - limits.jobs < answered.count else { return nil }
    return max(taken[line], answered[line - limits.jobs]).advanced(by: limits.deadline)
  }

  /// The instant by which everything that can come must have come.
  ///
  /// A line that the command does not take holds no clock up for ever: it has a deadline's time
  /// after the last thing that happened.
  var lastDue: MonotonicInstant {
    // No line is due before the one in front of it.
    let running = answered.count + min(taken.count - answered.count, limits.jobs)
    let known = due(running - 1) ?? start
    guard running < count else { return known }
    let lastEvent = max(taken.last ?? start.advanced(by: Self.startUp), answered.last ?? start)
    return max(known, lastEvent.advanced(by: limits.deadline))
  }

  /// The input ends when all is answered, or when nothing more can come in time.
  func inputEnds(at now: MonotonicInstant) -> Bool {
    isTaken && isAnswered || now >= lastDue.advanced(by: limits.slack)
  }

  /// From here on the command counts as hung.
  var hangs: MonotonicInstant {
    lastDue.advanced(by: limits.slack).advanced(by: limits.hangAfter)
  }
}
