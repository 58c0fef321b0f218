internal import Attache

extension Evidence {
  /// So many payloads have their moments on the time line; of more, nobody reads them.
  private static let maximumPayloads = 100

  /// When each line of input came out, as far as it did; matched by content where the filter may
  /// change the order.
  package func arrivals(of matching: LineMatching) -> [Int: Duration] {
    let pairs = zip(matching.answers, arrivals).compactMap { answer, arrival in LineMatching.line(of: answer).map { ($0, arrival) } }
    return Dictionary(pairs) { first, _ in first }
  }

  /// What the report and the arrivals say about when payloads were taken, decided and written.
  ///
  /// - Parameter deadline: the budget that the report counts lateness by.
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
