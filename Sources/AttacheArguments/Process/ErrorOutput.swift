internal import Attache
internal import Glibc
internal import Synchronization

/// Standard error, for all output that is not data: messages and, on a terminal, one progress line
/// below them.
package enum ErrorOutput {
  private struct Screen {
    var showsProgress = false
    var hasProgressEnded = false
  }

  /// Moves to the start of the line and erases it.
  private static let erasure = "\r\u{1B}[K"
  private static let screen = Mutex(Screen())

  /// Writes the whole text and replaces the progress line if there is one. Write errors are
  /// ignored.
  package static func write(_ text: String) {
    screen.withLock { screen in
      put(screen.showsProgress ? erasure + text : text)
      screen.showsProgress = false
    }
  }

  /// Replaces the progress line, cut to the terminal's width.
  package static func show(progress line: String) {
    screen.withLock { screen in
      guard !screen.hasProgressEnded else { return }
      put(erasure + line.prefix(TerminalStyle.columns(STDERR_FILENO) ?? .max))
      screen.showsProgress = true
    }
  }

  /// Erases the progress line before something is written elsewhere. Later lines are shown again.
  package static func hideProgress() {
    screen.withLock { screen in
      if screen.showsProgress { put(erasure) }
      screen.showsProgress = false
    }
  }

  /// Erases the progress line and ignores all later ones.
  package static func endProgress() {
    screen.withLock { screen in
      if screen.showsProgress { put(erasure) }
      screen = Screen(hasProgressEnded: true)
    }
  }

  private static func put(_ text: String) {
    try? WholeWrite.write(Array(text.utf8), to: STDERR_FILENO, waits: false)
  }
}
