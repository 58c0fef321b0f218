package import Attache

/// The result of one line, according to the output and, if there is one, the report.
package struct PayloadAccount: Sendable, Hashable {
  /// The line number, from 1.
  package var line: Int
  /// The outcome; nil when it is unknown.
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

  /// Returns one account per line of input. Without a report, a line that gained attachments is
  /// `attached`. For any other line, the output does not show whether it was a fallback or passed.
  package static func all(in evidence: Evidence) -> [PayloadAccount] {
    let records = Dictionary((evidence.report ?? []).map { ($0.line, $0) }) { first, _ in first }
    let output = evidence.outputLines
    var lines: [Int: ArraySlice<UInt8>] = [:]
    for (number, answer) in LineMatching(input: evidence.input, output: output, gaining: evidence.place).answers.enumerated() {
      if let line = LineMatching.line(of: answer), lines[line] == nil { lines[line] = output[number] }
    }
    return evidence.input.indices.map { index in
      let isOriginal = lines[index].map { $0.elementsEqual(evidence.input[index]) }
      let attachments = isOriginal == true ? nil : lines[index].flatMap { GainedAttachment.read($0, at: evidence.place) }
      guard evidence.report != nil else {
        let outcome: Outcome? = attachments?.isEmpty == false ? .attached : nil
        return PayloadAccount(
          line: index + 1, outcome: outcome, isReported: false, isOriginal: isOriginal, attachments: attachments ?? [])
      }
      let record = records[index + 1]
      return PayloadAccount(
        line: index + 1, outcome: record?.outcome, reason: record?.reason, isReported: true, isOriginal: isOriginal,
        attachments: attachments ?? [],
        media: record?.media, lateness: record?.lateness)
    }
  }

  /// The outcome with its reason, as text.
  package var verdict: String {
    guard let outcome else { return isReported ? "no word about it" : "no attachment" }
    return ReportedLine(line: line, outcome: outcome, reason: reason).verdict
  }
}
