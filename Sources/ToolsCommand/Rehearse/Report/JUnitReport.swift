internal import AttacheTesting
internal import Foundation
internal import XMLCoder

/// The report for continuous integration, in JUnit's XML.
struct JUnitReport: RehearsalReport {
  private let file: WholeFile

  init(_ file: WholeFile) {
    self.file = file
  }

  mutating func end(_ results: [ScenarioResult], elapsed: Duration) throws(ReportFailure) {
    let encoder = XMLEncoder()
    encoder.outputFormatting = .prettyPrinted
    // Without these escapes, a reader would replace the characters with spaces.
    encoder.charactersEscapedInAttributes += [("\n", "&#10;"), ("\t", "&#9;"), ("\r", "&#13;")]
    let data: Data
    do {
      data = try encoder.encode(
        JUnitSuites(results, elapsed: elapsed), withRootKey: "testsuites", header: XMLHeader(version: 1.0, encoding: "UTF-8"))
    } catch {
      throw ReportFailure(path: file.path, problem: "\(error)")
    }
    try file.write(String(decoding: data, as: UTF8.self) + "\n")
  }
}
