package import Attache

/// The result of one line, according to the output and, if there is one, the report.
package struct PayloadAccount: Sendable, Hashable {
  /// The line number, from 1.
  package var line: Int
  /// The outcome; nil when it is unknown. Without a report, a line that gained attachments is
  /// `attached`. For any other line, the output does not show whether it was a fallback or passed.
  package var outcome: Outcome?
  package var reason: Reason?
  /// Whether there is a report. Without one, the output shows only what was attached.
  package var isReported: Bool
  /// Whether the line came back unchanged to the byte; nil when it did not come back.
  package var isOriginal: Bool?
  package var attachments: [GainedAttachment]
  /// The media; nil without a report.
  package var media: [ReportedLine.Medium]?
  package var lateness: Duration?

  /// - Parameters:
  ///   - index: the line of input, from 0.
  ///   - output: the line of output that answers it.
  init(_ index: Int, output: ArraySlice<UInt8>?, record: ReportedLine?, in evidence: Evidence) {
    line = index + 1
    isReported = evidence.report != nil
    isOriginal = output.map { $0.elementsEqual(evidence.input[index]) }
    attachments = isOriginal == false ? output.flatMap { GainedAttachment.read($0, at: evidence.place) } ?? [] : []
    outcome = isReported ? record?.outcome : attachments.isEmpty ? nil : .attached
    (reason, media, lateness) = (record?.reason, record?.media, record?.lateness)
  }

  var result: ScenarioResult.OfPayload { .init(line: line, outcome: outcome, reason: reason, lateness: lateness) }

  /// The outcome with its reason, as text.
  package var verdict: String {
    guard let outcome else { return isReported ? "no record of it" : "no attachment" }
    return ReportedLine(line: line, outcome: outcome, reason: reason).verdict
  }
}

extension ReportedLine {
  /// The outcome with its reason: `fallback (deadline)`.
  package var verdict: String {
    reason.map { "\(outcome.rawValue) (\($0.rawValue))" } ?? outcome.rawValue
  }
}
