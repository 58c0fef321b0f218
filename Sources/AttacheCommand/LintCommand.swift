import ArgumentParser
import Attache
import AttacheInspection
import AttacheArguments

/// `attache lint`: reports probable mistakes in payloads, for people and for continuous
/// integration.
struct LintCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lint", abstract: "Check payloads for mistakes before they are sent; exit with 1 if there are any.",
    discussion: "Payloads are read from FILE or standard input, one JSON object per line or pretty-printed. Nothing is fetched.")

  @Argument(help: "The file to read. (default: standard input)")
  var file: String?

  @Option(help: "Write findings as text (FILE:LINE: severity: code: sentence [path]), json (one object per finding) or sarif.")
  var format = LintReport.Format.text

  @Option(
    help: ArgumentHelp("A JSON file with the app's categories; a payload with another category has a finding.", valueName: "file"),
    transform: { try NotificationCategories(contentsOf: $0) })
  var categories: NotificationCategories?

  @Flag(help: "Print each code with its meaning, what to do, and the source of the rule.")
  var list = false

  @OptionGroup(title: "Payloads") var payloads: PayloadOptions
  @OptionGroup(title: "Fetching") var fetching: FetchOptions

  func validate() throws {
    guard Validation.isOn else { return }
    try payloads.checkAddress()
  }

  func run() throws {
    if list { return try StandardOutput.write(Self.table) }
    let input = try PayloadFile(file)
    var configuration = try payloads.inspection(fetching, maximumAttachments: .max)
    configuration.categories = categories ?? NotificationCategories()
    let inspector = Inspector(configuration)
    var report = LintReport(format, file: input.name, version: attacheVersion)
    var isClean = true
    try input.forEach { payload in
      let findings = inspector.inspect(payload).flatMap(\.findings)
      isClean = isClean && findings.isEmpty
      try StandardOutput.write(findings.map { report.text(of: $0) }.joined())
    }
    try StandardOutput.write(report.end())
    if !isClean { throw ExitCode(ExitStatus.findings) }
  }

  private static var table: String {
    let width = FindingCode.allCases.map(\.rawValue.count).max() ?? 0
    return FindingCode.allCases.map { code in
      let severity = code.severity.rawValue
      return code.rawValue + String(repeating: " ", count: width + 2 - code.rawValue.count)
        + severity + String(repeating: " ", count: 9 - severity.count) + "\(code.sentence) \(code.advice)  \(code.source)\n"
    }.joined()
  }
}

extension LintReport.Format: ExpressibleByArgument {}
