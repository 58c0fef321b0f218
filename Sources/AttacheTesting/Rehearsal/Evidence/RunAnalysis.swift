internal import Attache

/// The evidence of a run, with its lines of output matched to its lines of input. A run is analysed
/// once, and all checks share the analysis.
package struct RunAnalysis: Sendable {
  /// The maximum number of payloads with events on the timeline; readers do not read more.
  private static let maximumPayloads = 100

  /// The evidence, without the lines of input that a stopped filter did not read.
  package let evidence: Evidence
  let allowedChanges: PromiseCheck.AllowedChanges
  let output: [ArraySlice<UInt8>]
  let matching: LineMatching
  /// The lines that a service extension changed, by their number, from 1.
  private let changes: [Int: ChangedLine]
  /// The line of output, from 0, that answers each answered line of input.
  let answers: [Int: Int]
  /// One account per line of input, also for the lines that a stopped filter did not read.
  package let accounts: [PayloadAccount]

  /// - Parameters:
  ///   - allowedChanges: the changes to a line that are allowed.
  ///   - isStopped: whether the filter is stopped, so that it owes nothing for lines that it did
  ///     not read.
  package init(_ evidence: Evidence, allowedChanges: PromiseCheck.AllowedChanges = .members, isStopped: Bool = false) {
    let read = isStopped ? evidence.upToLastRead : evidence
    let output = read.outputLines
    let records = Dictionary((read.report ?? []).map { ($0.line, $0) }) { first, _ in first }
    let changes = records.compactMapValues { record in
      (0..<read.input.count).contains(record.line - 1) && !record.changed.isEmpty
        ? ChangedLine(original: read.input[record.line - 1], changed: record.changed, place: read.place) : nil
    }
    var matching = LineMatching(input: read.input, output: output, allowedChanges: allowedChanges, gaining: read.place)
    matching.allow { line, number in changes[line + 1]?.allows(output[number]) == true }
    let pairs = matching.answers.enumerated().compactMap { number, answer in answer.line.map { ($0, number) } }
    let answers = Dictionary(pairs) { first, _ in first }
    accounts = evidence.input.indices.map { line in
      PayloadAccount(line, output: answers[line].map { output[$0] }, record: records[line + 1], in: evidence)
    }
    (self.evidence, self.allowedChanges, self.output, self.matching, self.answers) = (read, allowedChanges, output, matching, answers)
    self.changes = changes
  }

  /// Analyses a run of attache itself.
  package init(_ evidence: Evidence, of scenario: Scenario) {
    self.init(evidence, allowedChanges: .splice(evidence.place), isStopped: scenario.stop != nil)
  }

  /// Returns whether a line of output, from 0, has an allowed form of a line of input, from 0.
  func allows(_ number: Int, from line: Int) -> Bool {
    allowedChanges.allows(output[number], from: evidence.input[line]) || changes[line + 1]?.allows(output[number]) == true
  }

  /// The accounts of the lines that the filter read.
  var owed: ArraySlice<PayloadAccount> { accounts.prefix(evidence.input.count) }

  var results: [ScenarioResult.OfPayload] { accounts.map(\.result) }

  /// The lines of the first payloads.
  var lines: [ScenarioResult.Lines] {
    var (lines, left) = ([ScenarioResult.Lines](), ScenarioResult.maximumBytes)
    for (line, before) in evidence.input.enumerated() {
      let after = answers[line].map { output[$0] }
      left -= before.count + (after?.count ?? 0)
      guard left >= 0 else { break }
      lines.append(ScenarioResult.Lines(before: before, after: after.map(Array.init)))
    }
    return lines
  }

  /// The timeline with events for when payloads were taken, decided and written, according to the
  /// report and the arrivals.
  ///
  /// - Parameter deadline: the time budget on which the report's lateness is based.
  func timeline(deadline: Duration) -> [TimelineEvent] {
    var events = evidence.timeline
    for record in (evidence.report ?? []).sorted(by: { $0.line < $1.line }).prefix(Self.maximumPayloads) {
      guard let number = answers[record.line &- 1], number < evidence.arrivals.count, let lateness = record.lateness else { continue }
      let arrival = evidence.arrivals[number]
      let taken = max(.zero, arrival - lateness - deadline)
      let wait = record.placeWait.flatMap { $0 > .zero ? ", after it waited \(Milliseconds($0)) for its place" : nil } ?? ""
      events.append(.init(at: taken, .payload, "line \(record.line) is read\(wait)"))
      events.append(.init(at: min(arrival, taken + record.elapsed), .decision, "line \(record.line): \(record.verdict)"))
      let margin = lateness > .zero ? "\(Milliseconds(lateness)) too late" : "\(Milliseconds(.zero - lateness)) before its deadline"
      events.append(.init(at: arrival, .payload, "line \(record.line) is written, \(margin)"))
    }
    return events.sorted { $0.at < $1.at }
  }
}

extension Evidence {
  /// The evidence without the input lines that a stopped filter did not read. These are the lines
  /// after the last one in its report.
  fileprivate var upToLastRead: Evidence {
    let read = (report ?? []).map(\.line).max() ?? 0
    guard exitStatus == ExitStatus.temporaryFailure, report != nil, read < input.count else { return self }
    var evidence = self
    (evidence.input, evidence.endsWithLineFeed) = (Array(input.prefix(read)), true)
    return evidence
  }
}
