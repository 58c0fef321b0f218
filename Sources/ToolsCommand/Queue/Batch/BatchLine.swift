import Attache
import AttacheArguments
import AttacheQueue
import Glibc

/// The line on the terminal that shows a batch's progress.
enum BatchLine {
  /// The number of columns for the words beside the bar.
  private static let words = 70

  /// Shows the line until `ErrorOutput.endProgress()`. Starts a thread for it.
  static func show(_ batch: Batch) {
    let start = MonotonicInstant.now
    ProgressLine.show {
      var progress = batch.progress
      progress.elapsed = start.duration(to: .now)
      return progress.text(width: max(10, TerminalStyle.width(STDERR_FILENO) - words))
    }
  }
}
