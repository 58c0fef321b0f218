import Attache
import AttacheArguments
import AttacheQueue
import Glibc

/// A line on the terminal that shows a batch's progress, rewritten twice a second.
enum BatchLine {
  /// The number of columns for the words beside the bar.
  private static let words = 70

  /// Shows the line until `ErrorOutput.endProgress()`. Starts a thread for it.
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
