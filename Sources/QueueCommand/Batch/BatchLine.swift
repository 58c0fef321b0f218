import Attache
import AttacheArguments
import AttacheQueue
import Glibc

/// One line on the terminal that says how far a batch is, rewritten twice a second.
enum BatchLine {
  /// Columns that the words beside the bar take.
  private static let words = 70

  /// Shows the line until `ErrorOutput.endProgress()`, from a thread of its own.
  static func show(_ batch: Batch) {
    let start = MonotonicInstant.now
    CommandThread.start {
      while true {
        usleep(500_000)
        var progress = batch.progress
        progress.elapsed = start.duration(to: .now)
        let width = TerminalStyle.width(STDERR_FILENO)
        ErrorOutput.show(progress: progress.text(width: max(10, width - words)))
      }
    }
  }
}
