internal import AttacheArguments
internal import Glibc

/// One line on standard error that says which scenarios are played at the moment; only where that
/// is a terminal that can rewrite a line.
struct RunningLine: Sendable {
  /// Results that will come.
  var total = 0
  private var done = 0
  private var running: [String] = []
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
  func draw() {
    guard isOn else { return }
    guard !running.isEmpty else { return clear() }
    ErrorOutput.show(progress: "\(done) of \(total), playing \(running.joined(separator: ", "))")
  }

  /// Takes the line away, before something else is written.
  func clear() {
    ErrorOutput.hideProgress()
  }
}
