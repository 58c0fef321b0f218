import Foundation
import Testing

@testable import Attache
@testable import AttacheInspection

/// The three forms of findings.
struct LintReportTests {
  private let findings = inspect(#"{"aps":{"alert":"Hi","badge":"3"}}"#, "{").flatMap(\.findings)

  private func report(_ format: LintReport.Format, file: String = "a b.json") -> String {
    var report = LintReport(format, file: file, version: "1.2.3")
    return findings.map { report.text(of: $0) }.joined() + report.end()
  }

  @Test func `text is what a compiler writes`() {
    #expect(
      report(.text) == """
        a b.json:1: error: aps.badge: badge is a string, not a whole number of 0 or more [/aps/badge]
        a b.json:2: error: payload.json: the line is not a JSON object: at column 2, \
        the JSON goes over several lines (pretty-printed), or a closing bracket is missing; write each payload on one line (jq -c . does so, and jq -c '.[]' for an array)

        """)
  }

  @Test func `JSON is one object a finding`() throws {
    let objects = try report(.json).split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(objects.map { $0["code"] as? String } == ["aps.badge", "payload.json"])
    #expect(objects.map { $0["line"] as? Int } == [1, 2])
    #expect(objects.map { $0["path"] as? String } == ["/aps/badge", ""])
    for object in objects { #expect(Set(object.keys) == ["file", "line", "code", "severity", "path", "text", "advice", "source"]) }
  }

  @Test func `SARIF has the members that its schema requires`() throws {
    let log = try #require(try JSONSerialization.jsonObject(with: Data(report(.sarif).utf8)) as? [String: Any])
    #expect(log["version"] as? String == "2.1.0")
    let run = try #require((log["runs"] as? [[String: Any]])?.first)
    let driver = try #require((run["tool"] as? [String: Any])?["driver"] as? [String: Any])
    #expect(driver["name"] as? String == "attache")
    #expect(driver["version"] as? String == "1.2.3")
    let rules = try #require(driver["rules"] as? [[String: Any]])
    #expect(rules.map { $0["id"] as? String } == FindingCode.allCases.map(\.rawValue))
    for rule in rules {
      #expect(((rule["help"] as? [String: Any])?["text"] as? String)?.isEmpty == false)
      #expect(((rule["shortDescription"] as? [String: Any])?["text"] as? String)?.isEmpty == false)
      #expect((rule["helpUri"] as? String).flatMap { URL(string: $0) }?.scheme == "https")
    }
    let results = try #require(run["results"] as? [[String: Any]])
    #expect(results.count == 2)
    for (result, finding) in zip(results, findings) {
      #expect(result["ruleId"] as? String == finding.code.rawValue)
      #expect(rules[try #require(result["ruleIndex"] as? Int)]["id"] as? String == finding.code.rawValue)
      #expect(["error", "warning", "note"].contains(result["level"] as? String))
      #expect((result["message"] as? [String: Any])?["text"] is String)
      let location = try #require((result["locations"] as? [[String: Any]])?.first)
      let physical = try #require(location["physicalLocation"] as? [String: Any])
      #expect((physical["artifactLocation"] as? [String: Any])?["uri"] as? String == "a%20b.json")
      #expect((physical["region"] as? [String: Any])?["startLine"] as? Int == finding.line)
      let logical = try #require((location["logicalLocations"] as? [[String: Any]])?.first)
      #expect(logical["fullyQualifiedName"] as? String == finding.path.string)
    }
  }

  @Test func `SARIF without findings is a log with none`() throws {
    let report = LintReport(.sarif, file: "<stdin>", version: "1")
    let log = try #require(try JSONSerialization.jsonObject(with: Data(report.end().utf8)) as? [String: Any])
    #expect(((log["runs"] as? [[String: Any]])?.first?["results"] as? [Any])?.isEmpty == true)
  }
}
