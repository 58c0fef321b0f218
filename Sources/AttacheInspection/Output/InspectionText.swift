internal import Attache

/// Describes inspections to the user as text.
package struct InspectionText {
  private let paragraphs: Paragraphs

  /// - Parameters:
  ///   - width: the number of columns per line.
  ///   - isColoured: whether to use colors, as on a terminal.
  package init(width: Int, isColoured: Bool) {
    paragraphs = Paragraphs(width: width, isColoured: isColoured)
  }

  /// Returns the text, with a line feed at its end.
  package func text(of inspection: Inspection) -> String {
    var lines = paragraphs.lines(paragraphs.bold(inspection.headline), indent: 0)
    for sentence in inspection.sentences { lines += paragraphs.lines(sentence, indent: 2) }
    for (index, medium) in inspection.media.enumerated() {
      lines += paragraphs.lines("\(index + 1). " + URLDetail.full.text(of: medium.reference.url), indent: 2, hanging: 3)
      for sentence in medium.sentences(inspection) { lines += paragraphs.lines(sentence, indent: 5) }
    }
    lines += paragraphs.lines(inspection.sizeSentence, indent: 2)
    if inspection.findings.isEmpty { lines += paragraphs.lines("No findings.", indent: 2) }
    for finding in inspection.findings {
      let severity = paragraphs.coloured(finding.code.severity)
      let place = finding.path.isEmpty ? "" : " [\(PrintableText.of(finding.path))]"
      lines += paragraphs.lines("\(severity): \(finding.code.rawValue): \(finding.text). \(finding.code.advice)\(place)", indent: 2)
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
