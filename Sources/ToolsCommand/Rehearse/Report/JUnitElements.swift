internal import AttacheTesting
internal import XMLCoder

/// An element of JUnit's XML.
protocol JUnitElement: Encodable, DynamicNodeEncoding {
  /// The names of the members that become elements; all others become attributes.
  static var parts: Set<String> { get }
}

extension JUnitElement {
  static func nodeEncoding(for key: any CodingKey) -> XMLEncoder.NodeEncoding {
    parts.contains(key.stringValue) ? .element : .attribute
  }
}

/// The root element, with the parts that JUnit's readers agree on.
struct JUnitSuites: JUnitElement {
  static let parts: Set = ["testsuite"]

  var name = "attache rehearse"
  var tests: Int
  var failures: Int
  var skipped: Int
  var time: Double
  var testsuite: [JUnitSuite]

  init(_ results: [ScenarioResult], elapsed: Duration) {
    tests = results.count
    failures = results.count { !$0.findings.isEmpty }
    skipped = results.count { $0.isSkip }
    time = elapsed.reportedSeconds
    testsuite = ScenarioResult.Depth.allCases.compactMap { depth in
      let ofDepth = results.filter { $0.depth == depth }
      return ofDepth.isEmpty ? nil : JUnitSuite(depth, ofDepth, isRepeated: Set(results.map(\.seed)).count > 1)
    }
  }
}

/// The scenarios of one depth.
struct JUnitSuite: JUnitElement {
  static let parts: Set = ["testcase"]

  var name: String
  var tests: Int
  var failures: Int
  var errors = 0
  var skipped: Int
  var time: Double
  var testcase: [JUnitCase]

  init(_ depth: ScenarioResult.Depth, _ results: [ScenarioResult], isRepeated: Bool) {
    name = "rehearsal.\(depth.rawValue)"
    tests = results.count
    failures = results.count { !$0.findings.isEmpty }
    skipped = results.count { $0.isSkip }
    time = results.map(\.elapsed).reduce(.zero, +).reportedSeconds
    testcase = results.map { JUnitCase($0, suite: "rehearsal.\(depth.rawValue)", isRepeated: isRepeated) }
  }
}

/// One run of a scenario.
struct JUnitCase: JUnitElement {
  static let parts: Set = ["failure", "skipped", "system-out"]

  struct Failure: JUnitElement {
    static let parts: Set = [""]

    /// The kind of the first finding.
    var type: String
    var message: String
    /// All findings, one a line.
    var text: String

    enum CodingKeys: String, CodingKey {
      case type, message
      case text = ""
    }
  }

  struct Skip: JUnitElement {
    static let parts: Set<String> = []

    var message: String
  }

  var name: String
  var classname: String
  var file: String
  var time: Double
  var failure: Failure?
  var skipped: Skip?
  var output: String?

  enum CodingKeys: String, CodingKey {
    case name, classname, file, time, failure, skipped
    case output = "system-out"
  }

  init(_ result: ScenarioResult, suite: String, isRepeated: Bool) {
    name = (result.scenario.name + (isRepeated ? " (seed \(result.seed))" : "")).asXML
    classname = suite
    file = result.scenario.file.asXML
    time = result.elapsed.reportedSeconds
    failure = result.findings.first.map { first in
      Failure(
        type: first.kind.rawValue, message: first.description.asXML, text: result.findings.map(\.explained).joined(separator: "\n").asXML)
    }
    skipped = failure == nil ? result.skipped.map { Skip(message: $0.asXML) } : nil
    let lines = result.warnings.map { "warning: \($0)" } + TimelineText(events: result.timeline).lines()
    output = lines.isEmpty ? nil : lines.joined(separator: "\n").asXML
  }
}

extension Finding {
  /// The finding, and what to do if that is known.
  fileprivate var explained: String {
    kind.advice.map { "\(self)\n\($0)" } ?? description
  }
}

extension ScenarioResult {
  /// Whether the scenario was skipped and has no findings.
  fileprivate var isSkip: Bool { skipped != nil && findings.isEmpty }
}

extension String {
  /// The string with a replacement for each character that XML 1.0 cannot represent.
  fileprivate var asXML: String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.map { scalar in
          switch scalar.value {
          case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...: scalar
          default: "\u{FFFD}"
          }
        }))
  }
}
