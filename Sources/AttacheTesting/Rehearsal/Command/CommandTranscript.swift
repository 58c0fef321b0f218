internal import Attache

/// The observations of one run of a command.
struct CommandTranscript: Sendable {
  /// The times at which the lines were read and answered, and at which they were due.
  var timing: CommandTiming
  /// The time at which the first byte was offered.
  var start: MonotonicInstant
  var output: [UInt8] = []
  /// The last bytes that it wrote to standard error.
  var errors: [UInt8] = []
  /// The exit; nil when it had to be ended.
  var exit: ProcessEnd?
  /// The time at which it had ended or was ended.
  var end: MonotonicInstant
  /// The time at which its input ended; nil when the command ended first.
  var inputEnd: MonotonicInstant?
  /// Whether the rehearsal killed it at a kill point.
  var isKilled = false
  /// Whether it was asked to stop.
  var isStopped = false
  /// Whether it was ended because it wrote too much.
  var isFlooding = false
  /// The peak resource use; nil when it was not measured.
  var resources: CommandResources?

  init(timing: CommandTiming, start: MonotonicInstant) {
    self.timing = timing
    self.start = start
    end = start
  }

  /// The arrival times of the complete lines of output, counted from the start.
  var arrivals: [Duration] { timing.answered.map { start.duration(to: $0) } }

  /// The last lines of its standard error as part of a message; empty when it wrote nothing.
  var lastWords: String {
    let text = String(decoding: errors.suffix(400), as: UTF8.self)
    let lines = text.split(whereSeparator: \.isNewline).suffix(3)
    return lines.isEmpty ? "" : "; its standard error: \(lines.map { String($0).printable }.joined(separator: " / "))"
  }
}
