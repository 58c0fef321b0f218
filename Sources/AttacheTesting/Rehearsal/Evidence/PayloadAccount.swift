package import Attache

/// What became of one line, as the output and, where there is one, the report tell it.
package struct PayloadAccount: Sendable, Hashable {
  /// From 1.
  package var line: Int
  /// nil when nothing came.
  package var outcome: Outcome?
  package var reason: Reason?
  /// Whether there is a report: without one an output says what was attached, and no more.
  package var isReported: Bool
  /// Whether the line came byte for byte as it was; nil when it did not come.
  package var isOriginal: Bool?
  package var attachments: [GainedAttachment]
  /// nil without a report.
  package var media: [ReportedLine.Medium]?
  package var lateness: Duration?

  /// One for each line of input. Without a report, a line that gained attachments is `attached`;
  /// whether any other was a fallback or passed, an output does not say.
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

  /// The outcome with its reason, in words.
  package var verdict: String {
    guard let outcome else { return isReported ? "no word about it" : "no attachment" }
    return ReportedLine(line: line, outcome: outcome, reason: reason).verdict
  }
}
