internal import AttacheArguments
internal import Glibc

/// One line on standard error that says which scenarios are played at the moment; only where that is a terminal that can rewrite a line.
struct RunningLine: Sendable {
  /// Results that will come.
  var total = 0
  private var done = 0
  private var running: [String] = []
  private var isDrawn = false
  private let isOn = TerminalStyle.takesEscapes(STDERR_FILENO)

  /// A scenario begins.
  mutating func begin(_ name: String) {
    running.append(name)
  }

  /// A result has come, perhaps of a scenario that never began.
  mutating func end(_ name: String) {
    done += 1
    if let index = running.firstIndex(of: name) { running.remove(at: index) }
  }

  /// Writes the line over the one that is there; nothing when no scenario is played.
  mutating func draw() {
    guard isOn else { return }
    guard !running.isEmpty else { return clear() }
    // The last column stays free: a terminal may wrap behind it.
    let text = "\(done) of \(total), playing \(running.joined(separator: ", "))".prefix(TerminalStyle.width(STDERR_FILENO) - 1)
    Terminal.error.write("\r\u{1B}[K\(text)")
    isDrawn = true
  }

  /// Takes the line away, before something else is written.
  mutating func clear() {
    guard isDrawn else { return }
    Terminal.error.write("\r\u{1B}[K")
    isDrawn = false
  }
}
