internal import Attache
internal import AttacheTesting

/// The events of a run in columns, one line each.
struct TimelineText {
  let events: [TimelineEvent]

  /// Returns the lines.
  ///
  /// - Parameter most: the most events to show. Beyond it, one line with their number replaces
  ///   those in the middle.
  func lines(most: Int = .max) -> [String] {
    guard events.count > most else { return events.map(line) }
    let tail = most / 3
    let left = events.count - most
    return events.prefix(most - tail).map(line) + ["… \(left) more …".aligned(to: 12 + "… more …".count)] + events.suffix(tail).map(line)
  }

  private func line(_ event: TimelineEvent) -> String {
    let tenths = Int((event.at.milliseconds * 10).rounded())
    let time = "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10) ms"
    return "\(time.aligned(to: 12))  \(event.actor.rawValue.padded(to: 8))  \(event.text)"
  }
}
