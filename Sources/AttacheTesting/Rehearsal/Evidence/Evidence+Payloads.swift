internal import Attache

extension Evidence {
  /// The maximum number of payloads with events on the timeline; readers do not read more.
  private static let maximumPayloads = 100

  /// Returns when each line of input was written, if it was. Lines are matched by content, because
  /// the filter can change the order.
  package func arrivals(of matching: LineMatching) -> [Int: Duration] {
    let pairs = zip(matching.answers, arrivals).compactMap { answer, arrival in LineMatching.line(of: answer).map { ($0, arrival) } }
    return Dictionary(pairs) { first, _ in first }
  }

  /// Returns events for when payloads were taken, decided and written, according to the report and
  /// the arrivals.
  ///
  /// - Parameter deadline: the time budget on which the report's lateness is based.
  package func payloadEvents(deadline: Duration) -> [ScenarioResult.Event] {
    guard let report, !arrivals.isEmpty else { return [] }
    let written = arrivals(of: LineMatching(input: input, output: outputLines, gaining: place))
    var events: [ScenarioResult.Event] = []
    for record in report.sorted(by: { $0.line < $1.line }).prefix(Self.maximumPayloads) {
      guard let arrival = written[record.line &- 1], let lateness = record.lateness else { continue }
      let taken = max(.zero, arrival - lateness - deadline)
      events.append(.init(at: taken, .payload, "line \(record.line) is taken"))
      events.append(.init(at: min(arrival, taken + record.elapsed), .decision, "line \(record.line): \(record.verdict)"))
      let margin = lateness > .zero ? "\(Milliseconds(lateness)) too late" : "\(Milliseconds(.zero - lateness)) before its deadline"
      events.append(.init(at: arrival, .payload, "line \(record.line) is written, \(margin)"))
    }
    return events
  }
}

extension ReportedLine {
  /// The outcome with its reason: `fallback (deadline)`.
  package var verdict: String {
    reason.map { "\(outcome.rawValue) (\($0.rawValue))" } ?? outcome.rawValue
  }
}
