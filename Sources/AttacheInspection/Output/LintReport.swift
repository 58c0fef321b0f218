internal import Attache

/// Writes findings in a compiler's format, as JSON objects, or as SARIF.
package struct LintReport {
  package enum Format: String, CaseIterable, Sendable {
    case text, json, sarif
  }

  private let format: Format
  /// The name of the input, as the user gave it.
  private let file: String
  private var sarif: SARIFLog

  package init(_ format: Format, file: String, version: String) {
    (self.format, self.file) = (format, file)
    sarif = SARIFLog(file: file, version: version)
  }

  /// Returns the text to write immediately for a finding. SARIF has none until the end.
  package mutating func text(of finding: LintFinding) -> String {
    switch format {
    case .text:
      let place = finding.path.isEmpty ? "" : " [\(PrintableText.of(finding.path))]"
      return
        "\(PrintableText.of(file)):\(finding.line): \(finding.code.severity.rawValue): \(finding.code.rawValue): \(finding.text)\(place)\n"
    case .json:
      return String(decoding: PrintableText.ofJSON(json(finding)), as: UTF8.self) + "\n"
    case .sarif:
      sarif.add(finding)
      return ""
    }
  }

  /// Returns the text to write after the last finding.
  package func end() -> String {
    format == .sarif ? String(decoding: PrintableText.ofJSON(sarif.json()), as: UTF8.self) + "\n" : ""
  }

  private func json(_ finding: LintFinding) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.member("file", file)
    json.member("line", finding.line)
    json.member("code", finding.code.rawValue)
    json.member("severity", finding.code.severity.rawValue)
    json.member("path", finding.path)
    json.member("text", finding.text)
    json.member("advice", finding.code.advice)
    json.member("source", finding.source)
    json.endObject()
    return json.bytes
  }
}
