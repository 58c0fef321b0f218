internal import AttacheArguments
internal import Glibc

/// A line on standard error with the scenarios that are running. It is shown only on a terminal
/// that can rewrite a line.
struct RunningLine: Sendable {
  /// The number of results to expect.
  var total = 0
  private var done = 0
  private var running: [String] = []
  private let isOn = TerminalStyle.takesEscapes(STDERR_FILENO)

  /// Records that a scenario begins.
  mutating func begin(_ name: String) {
    running.append(name)
  }

  /// Records a result, which may belong to a scenario that never began.
  mutating func end(_ name: String) {
    done += 1
    if let index = running.firstIndex(of: name) { running.remove(at: index) }
  }

  /// Rewrites the line; erases it when no scenario is running.
  func draw() {
    guard isOn else { return }
    guard !running.isEmpty else { return clear() }
    ErrorOutput.show(progress: "\(done) of \(total), playing \(running.joined(separator: ", "))")
  }

  /// Erases the line before something else is written.
  func clear() {
    ErrorOutput.hideProgress()
  }
}
