internal import Attache
internal import AttacheTesting

/// What happened, one line an event, in columns.
struct TimelineText {
  let events: [ScenarioResult.Event]

  /// - Parameter most: with more lines than this, those in the middle are left out, and their
  ///   number is said.
  func lines(most: Int = .max) -> [String] {
    guard events.count > most else { return events.map(line) }
    let tail = most / 3
    let left = events.count - most
    return events.prefix(most - tail).map(line) + ["… \(left) more …".aligned(to: 12 + "… more …".count)] + events.suffix(tail).map(line)
  }

  private func line(_ event: ScenarioResult.Event) -> String {
    let tenths = Int((event.at.milliseconds * 10).rounded())
    let time = "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10) ms"
    return "\(time.aligned(to: 12))  \(event.actor.rawValue.padded(to: 8))  \(event.text)"
  }
}
