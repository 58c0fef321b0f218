internal import Glibc

/// A line on the terminal that shows a command's progress, rewritten twice a second.
package enum ProgressLine {
  /// Shows the line until ``ErrorOutput/endProgress()``. Starts a thread for it.
  package static func show(_ text: @escaping @Sendable () -> String) {
    CommandThread.start("progress") {
      while true {
        usleep(500_000)
        ErrorOutput.show(progress: text())
      }
    }
  }
}
