import Attache
import AttacheTesting
import Testing

/// Lines of which a service extension changed members, as the report says.
@Suite struct ChangedLineTests {
  /// What became of a line, and whether the promise is kept.
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var before: String
    var after: String
    var changed: [String]
    var isKept: Bool
  }

  private static let title = #"{ "aps":{"alert":{"title":"A","body":"B"} ,"badge":1},"n":1.10 }"#

  @Test(arguments: [
    Row(
      testDescription: "a text, as reported", before: title, after: title.replacing("\"A\"", with: "\"C\""), changed: ["/aps/alert/title"],
      isKept: true),
    Row(
      testDescription: "a text that is not reported", before: title, after: title.replacing("\"A\"", with: "\"C\""),
      changed: ["/aps/alert/body"], isKept: false),
    Row(
      testDescription: "a text without a report", before: title, after: title.replacing("\"A\"", with: "\"C\""), changed: [], isKept: false),
    Row(
      testDescription: "another member beside the reported one", before: title,
      after: title.replacing("\"A\"", with: "\"C\"").replacing("1.10", with: "1.1"), changed: ["/aps/alert/title"], isKept: false),
    Row(
      testDescription: "white space outside the reported member", before: title,
      after: title.replacing("\"A\"", with: "\"C\"").replacing("{ \"aps\"", with: "{\"aps\""), changed: ["/aps/alert/title"], isKept: false),
    Row(
      testDescription: "members added, replaced and removed", before: title,
      after: #"{ "aps":{"alert":{"title":"A","body":"B","subtitle":"S"} ,"sound":"x"},"n":2,"a/b":[] }"#,
      changed: ["/aps/alert/subtitle", "/aps/badge", "/aps/sound", "/n", "/a~1b"], isKept: true),
    Row(
      testDescription: "a text for one that the device looks up", before: #"{"aps":{"alert":{"title-loc-key":"K","body":"B"}}}"#,
      after: #"{"aps":{"alert":{"body":"B","title":"T"}}}"#, changed: ["/aps/alert/title"], isKept: true),
    Row(
      testDescription: "an alert that is a string", before: #"{"aps":{"alert":"B"},"n":1}"#,
      after: #"{"aps":{"alert":{"title":"T","body":"B"}},"n":1}"#, changed: ["/aps/alert/title"], isKept: true),
    Row(
      testDescription: "an alert that is a string, and another member", before: #"{"aps":{"alert":"B"},"n":1}"#,
      after: #"{"aps":{"alert":{"title":"T","body":"B"}},"n":2}"#, changed: ["/aps/alert/title"], isKept: false),
    Row(
      testDescription: "no JSON any more", before: title, after: String(title.replacing("\"A\"", with: "\"C\"").dropLast(2)),
      changed: ["/aps/alert/title"], isKept: false),
  ])
  func `only the members that the report names may differ`(row: Row) {
    var evidence = Evidence(input: [Array(row.before.utf8)])
    evidence.output = Array((row.after + "\n").utf8)
    var record = ReportedLine(line: 1, outcome: .attached)
    record.changed = row.changed
    evidence.report = [record]
    let findings = PromiseCheck().findings(RunAnalysis(evidence, allowedChanges: .splice(OutputPlace())))
    #expect(findings.isEmpty == row.isKept, "\(findings)")
  }
}
