/// The progress of a batch, and its text for a terminal.
package struct BatchProgress: Hashable, Sendable {
  /// Lines of the file that are in the queue.
  package var enqueued = 0
  /// The number of lines of the file; nil while it is unknown.
  package var lines: Int?
  /// Payloads that had a result when this run began.
  package var before = 0
  /// The results of this run.
  package var counts = BatchObserver.Counts()
  /// The time since this run began.
  package var elapsed = Duration.zero

  package init() {}

  /// Payloads with a result.
  package var done: Int { before + counts.finished }

  /// Results per second in this run.
  package var rate: Double {
    elapsed > .zero ? Double(counts.finished) / (elapsed / .seconds(1)) : 0
  }

  /// The time that the rest needs at this rate; nil while it is unknown.
  package var left: Duration? {
    guard let lines, rate > 0 else { return nil }
    return .seconds(Double(max(0, lines - done)) / rate)
  }

  /// One line with a bar, the rate, the outcomes, and the time left.
  ///
  /// - Parameter width: the width of the bar, in columns.
  package func text(width: Int) -> String {
    let outcomes = "\(counts.attached) attached, \(counts.fallback) fallback"
    let waiting = counts.postponed > 0 ? ", \(counts.postponed) to retry" : ""
    let rest = "\(Int(rate.rounded()))/s, \(outcomes)\(waiting)"
    guard let lines else { return "\(done) of \(enqueued) so far, \(rest)" }
    let share = lines == 0 ? 1 : min(1, Double(done) / Double(lines))
    let filled = Int((share * Double(width)).rounded(.down))
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
    return "[\(bar)] \(Int((share * 100).rounded(.down))) %, \(rest)\(left.map { ", \(Self.clock($0)) left" } ?? "")"
  }

  /// Formats minutes and seconds, with hours when there are any.
  private static func clock(_ duration: Duration) -> String {
    let seconds = min(Int(duration.components.seconds), 359_999)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let minutes = two(seconds % 60)
    return seconds < 3_600 ? "\(seconds / 60):\(minutes)" : "\(seconds / 3_600):\(two(seconds / 60 % 60)):\(minutes)"
  }
}
