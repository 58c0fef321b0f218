import Attache
import AttacheArguments
import AttacheQueue
import Glibc

/// One line on the terminal that says how far a batch is, rewritten twice a second.
enum BatchLine {
  /// Columns that the words beside the bar take.
  private static let words = 70

  /// Shows the line until the process ends, from a thread of its own: a terminal that is held holds up nothing else.
  static func show(_ batch: Batch) {
    let start = MonotonicInstant.now
    CommandThread.start {
      while true {
        usleep(500_000)
        var progress = batch.progress
        progress.elapsed = start.duration(to: .now)
        let width = TerminalStyle.width(STDERR_FILENO)
        ErrorOutput.write("\r\u{1B}[K" + progress.text(width: max(10, width - words)))
      }
    }
  }

  /// Takes the line away before the last words.
  static func clear() {
    ErrorOutput.write("\r\u{1B}[K")
  }
}
