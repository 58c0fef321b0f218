internal import Attache

/// Computes when a command's lines are due, when its input ends, and when it counts as hung, from
/// the observations only.
///
/// A payload's clock starts when the command has read its last byte and a slot for it is free. With
/// `--jobs N` in the scenario's flags, the slot of the (N+1)th payload becomes free when the first
/// was answered.
struct CommandTiming: Sendable, Hashable {
  struct Limits: Sendable, Hashable {
    var deadline: Duration
    /// The allowed delay between the two processes.
    var slack: Duration
    /// How long the command can continue after the last deadline.
    var hangAfter: Duration
    /// The maximum number of undecided payloads.
    var jobs: Int
  }

  let limits: Limits
  let count: Int
  private(set) var taken: [MonotonicInstant] = []
  private(set) var answered: [MonotonicInstant] = []
  private let start: MonotonicInstant
  private var inputEnd: MonotonicInstant?

  /// The time that a command has to begin reading; enough to start a shell and an interpreter even
  /// on a busy machine.
  private static let startUp = Duration.seconds(2)

  init(count: Int, limits: Limits, start: MonotonicInstant) {
    self.count = count
    self.limits = limits
    self.start = start
  }

  /// Records that the command has read the last byte of this many lines.
  mutating func take(_ lines: Int, at now: MonotonicInstant) {
    while taken.count < lines { taken.append(now) }
  }

  /// Records that the input has ended. Reads can no longer be observed after that, so the clock of
  /// lines not yet read starts now.
  mutating func endInput(at now: MonotonicInstant) {
    inputEnd = now
  }

  /// Records a complete line of output.
  mutating func answer(at now: MonotonicInstant) {
    answered.append(now)
  }

  var isTaken: Bool { taken.count == count }
  var isAnswered: Bool { answered.count >= count }

  /// Returns the instant by which a line must arrive, without slack; nil while its clock has not
  /// started.
  ///
  /// - Parameter line: from 0.
  func due(_ line: Int) -> MonotonicInstant? {
    guard taken.indices.contains(line) else { return inputEnd?.advanced(by: limits.deadline) }
    guard line >= limits.jobs else { return taken[line].advanced(by: limits.deadline) }
    guard line - limits.jobs < answered.count else { return nil }
    return max(taken[line], answered[line - limits.jobs]).advanced(by: limits.deadline)
  }

  /// The instant by which all lines that can arrive must have arrived.
  ///
  /// A line that the command does not read cannot delay this forever: it gets a deadline's time
  /// after the last event.
  var lastDue: MonotonicInstant {
    // No line is due before the line before it.
    let running = answered.count + min(taken.count - answered.count, limits.jobs)
    let known = due(running - 1) ?? start
    guard running < count else { return known }
    let lastEvent = max(taken.last ?? start.advanced(by: Self.startUp), answered.last ?? start)
    return max(known, lastEvent.advanced(by: limits.deadline))
  }

  /// Returns whether the input should end: when all lines are answered, or when no further line can
  /// arrive in time.
  func inputEnds(at now: MonotonicInstant) -> Bool {
    isTaken && isAnswered || now >= lastDue.advanced(by: limits.slack)
  }

  /// The instant from which the command counts as hung.
  var hangs: MonotonicInstant {
    lastDue.advanced(by: limits.slack).advanced(by: limits.hangAfter)
  }
}
