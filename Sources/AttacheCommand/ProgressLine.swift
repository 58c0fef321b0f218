import Attache
import AttacheArguments
import Glibc

/// One line on the terminal that says how far the filter is, rewritten twice a second.
enum ProgressLine {
  /// Shows the line until the process ends, from a thread of its own: a terminal that is held holds up nothing else.
  static func show(_ filter: Filter) {
    CommandThread.start {
      while true {
        usleep(500_000)
        let progress = filter.progress
        ErrorOutput.write("\r\u{1B}[K\(progress.lines) lines, \(progress.attached) attached, \(progress.fallback) fallback")
      }
    }
  }

  /// Takes the line away before the last words.
  static func clear() {
    ErrorOutput.write("\r\u{1B}[K")
  }
}
