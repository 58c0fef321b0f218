internal import Attache

/// What was seen of one run of a command.
struct CommandTranscript: Sendable {
  /// When the lines were taken and answered, and by when they were due.
  var timing: CommandTiming
  /// When the first byte was offered.
  var start: MonotonicInstant
  var output: [UInt8] = []
  /// The last of what it wrote to standard error.
  var errors: [UInt8] = []
  /// nil when it had to be ended.
  var exit: CommandExit?
  /// When it had ended, or was.
  var end: MonotonicInstant
  /// When its input ended; nil when the command was the first to end.
  var inputEnd: MonotonicInstant?
  /// Whether the rehearsal killed it at a kill point.
  var isKilled = false
  /// Whether it was told to stop.
  var isStopped = false
  /// Whether it was ended because it wrote and wrote.
  var isFlooding = false
  /// Whether `resources` was looked at.
  var isMeasured = false
  var resources = CommandResources()

  init(timing: CommandTiming, start: MonotonicInstant) {
    self.timing = timing
    self.start = start
    end = start
  }

  /// When the whole lines of the output came, counted from the start.
  var arrivals: [Duration] { timing.answered.map { start.duration(to: $0) } }

  /// The last lines of standard error as a part of a message; empty when it wrote nothing.
  var lastWords: String { Self.lastWords(errors) }

  /// The last lines of a standard error as a part of a message; empty when there are none.
  static func lastWords(_ errors: [UInt8]) -> String {
    let text = String(decoding: errors.suffix(400), as: UTF8.self)
    let lines = text.split(whereSeparator: \.isNewline).suffix(3)
    return lines.isEmpty ? "" : "; its standard error: \(lines.map { String($0).printable }.joined(separator: " / "))"
  }
}
