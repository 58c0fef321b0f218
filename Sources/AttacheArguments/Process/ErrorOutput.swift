internal import Glibc
internal import Synchronization

/// Standard error, where everything goes that is not data: messages, and on a terminal one line of
/// progress below them.
package enum ErrorOutput {
  private struct Screen {
    var showsProgress = false
    var hasProgressEnded = false
  }

  /// Back to the line's start, and everything from there erased.
  private static let erasure = "\r\u{1B}[K"
  private static let screen = Mutex(Screen())

  /// Writes a text whole, in the place of the progress line if there is one. Errors of standard
  /// error are ignored.
  package static func write(_ text: String) {
    screen.withLock { screen in
      put(screen.showsProgress ? erasure + text : text)
      screen.showsProgress = false
    }
  }

  /// Shows one line in the place of the last one, cut at the terminal's width.
  package static func show(progress line: String) {
    screen.withLock { screen in
      guard !screen.hasProgressEnded else { return }
      put(erasure + line.prefix(TerminalStyle.columns(STDERR_FILENO) ?? .max))
      screen.showsProgress = true
    }
  }

  /// Erases the progress line, before something is written elsewhere; the next one is shown.
  package static func hideProgress() {
    screen.withLock { screen in
      if screen.showsProgress { put(erasure) }
      screen.showsProgress = false
    }
  }

  /// Erases the progress line and shows no further one.
  package static func endProgress() {
    screen.withLock { screen in
      if screen.showsProgress { put(erasure) }
      screen = Screen(hasProgressEnded: true)
    }
  }

  private static func put(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
      guard written > 0 || errno == EINTR else { return }
      rest = rest.dropFirst(max(0, written))
    }
  }
}
