import Attache
import AttacheArguments
import Glibc

/// One line on the terminal that says how far the filter is, rewritten twice a second.
enum ProgressLine {
  /// Shows the line until `ErrorOutput.endProgress()`, from a thread of its own.
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
