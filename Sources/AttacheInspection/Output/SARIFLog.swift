internal import Attache

/// Findings in SARIF 2.1.0, the format that code hosts show next to the lines.
///
/// Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
struct SARIFLog {
  private let file: String
  private let version: String
  private var results = JSONWriter()

  init(file: String, version: String) {
    (self.file, self.version) = (file, version)
    results.beginArray()
  }

  mutating func add(_ finding: LintFinding) {
    results.beginObject()
    results.member("ruleId", finding.code.rawValue)
    results.member("ruleIndex", FindingCode.allCases.firstIndex(of: finding.code))
    results.member("level", finding.code.severity.rawValue)
    results.message("message", "\(finding.text). \(finding.code.advice)")
    results.key("locations")
    results.beginArray()
    writeLocation(of: finding)
    results.endArray()
    results.endObject()
  }

  private mutating func writeLocation(of finding: LintFinding) {
    results.beginObject()
    results.key("physicalLocation")
    results.beginObject()
    results.key("artifactLocation")
    results.beginObject()
    results.member("uri", Self.uri(of: file))
    results.endObject()
    results.key("region")
    results.beginObject()
    results.member("startLine", finding.line)
    results.endObject()
    results.endObject()
    results.key("logicalLocations")
    results.beginArray()
    results.beginObject()
    results.member("fullyQualifiedName", finding.path)
    results.member("kind", finding.path.isEmpty ? "object" : "property")
    results.endObject()
    results.endArray()
    results.endObject()
  }

  /// Returns the complete log.
  func json() -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.member("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
    json.member("version", "2.1.0")
    json.key("runs")
    json.beginArray()
    json.beginObject()
    json.key("tool")
    json.beginObject()
    json.key("driver")
    writeDriver(to: &json)
    json.endObject()
    json.member("columnKind", "utf16CodeUnits")
    json.key("results")
    var results = results
    results.endArray()
    json.source(results.bytes[...])
    json.endObject()
    json.endArray()
    json.endObject()
    return json.bytes
  }

  private func writeDriver(to json: inout JSONWriter) {
    json.beginObject()
    json.member("name", "attache")
    json.member("version", version)
    json.key("rules")
    json.beginArray()
    for code in FindingCode.allCases {
      json.beginObject()
      json.member("id", code.rawValue)
      json.message("shortDescription", code.sentence)
      json.message("help", code.advice)
      json.member("helpUri", code.source)
      json.key("defaultConfiguration")
      json.beginObject()
      json.member("level", code.severity.rawValue)
      json.endObject()
      json.endObject()
    }
    json.endArray()
    json.endObject()
  }

  /// Converts a path to a URI reference. Bytes that a URI may not contain are percent-encoded.
  static func uri(of path: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    return String(
      decoding: path.utf8.flatMap { byte in
        byte.isLetterASCII || byte.decimalDigit != nil || "-._~/".utf8.contains(byte)
          ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }, as: UTF8.self)
  }
}

extension JSONWriter {
  /// Writes a SARIF message object.
  fileprivate mutating func message(_ name: String, _ text: String) {
    key(name)
    beginObject()
    member("text", text)
    endObject()
  }
}
