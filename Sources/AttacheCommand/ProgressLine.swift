import Attache
import AttacheArguments
import Glibc

/// A line on the terminal that shows the filter's progress, rewritten twice a second.
enum ProgressLine {
  /// Shows the line until `ErrorOutput.endProgress()`. Starts a thread for it.
  static func show(_ filter: Filter) {
    CommandThread.start {
      while true {
        usleep(500_000)
        let progress = filter.progress
        ErrorOutput.show(progress: "\(progress.lines) lines, \(progress.attached) attached, \(progress.fallback) fallback")
      }
    }
  }
}
