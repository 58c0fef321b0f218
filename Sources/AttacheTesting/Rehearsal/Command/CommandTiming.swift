internal import Attache

/// Computes when a command's lines are due, when its input ends, and when it counts as hung, from
/// the observations.
///
/// A payload's clock starts when the command has read its last byte and a slot for it is free. With
/// `--jobs N` in the scenario's flags, the slot of the (N+1)th payload becomes free when the first
/// was answered. A command's report may say that a line waited longer for its place, but no line
/// waits once all before it are answered.
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
  /// When each line that was read got its place, according to the report; empty without one.
  private var placed: [MonotonicInstant] = []
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

  /// Takes how long each line waited for its place. A line begins to wait when it is read and the
  /// line before it has its place.
  ///
  /// - Parameter waits: by the line, from 0.
  mutating func note(waits: [Int: Duration]) {
    placed = []
    for line in taken.indices {
      let begun = max(taken[line], placed.last ?? start)
      let claimed = begun.advanced(by: max(.zero, waits[line] ?? .zero))
      let lastAnswer = line == 0 ? start : line <= answered.count ? answered[line - 1] : .distantFuture
      placed.append(min(claimed, max(begun, lastAnswer)))
    }
  }

  var isTaken: Bool { taken.count == count }
  var isAnswered: Bool { answered.count >= count }

  /// Returns the instant by which a line must arrive, without slack; nil while its clock has not
  /// started.
  ///
  /// - Parameter line: from 0.
  func due(_ line: Int) -> MonotonicInstant? {
    guard taken.indices.contains(line) else { return inputEnd?.advanced(by: limits.deadline) }
    let begun = placed.indices.contains(line) ? placed[line] : taken[line]
    guard line >= limits.jobs else { return begun.advanced(by: limits.deadline) }
    guard line - limits.jobs < answered.count else { return nil }
    return max(begun, answered[line - limits.jobs]).advanced(by: limits.deadline)
  }

  /// The instant by which all lines that can arrive must have arrived.
  ///
  /// A line that the command does not read, or that waits for its place, cannot delay this forever: it
  /// gets a deadline's time after the last event.
  var lastDue: MonotonicInstant {
    // No line is due before the line before it.
    let running = answered.count + min(taken.count - answered.count, limits.jobs)
    let known = due(running - 1) ?? start
    guard !isAnswered else { return known }
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
