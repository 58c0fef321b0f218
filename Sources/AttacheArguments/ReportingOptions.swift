public import ArgumentParser
public import Attache
internal import Glibc

/// The flags for what a filter reports about its work.
package struct ReportingOptions: ParsableArguments {
  @Option(help: URLDetail.help)
  package var logUrls = URLDetail.short

  @Option(help: ArgumentHelp("Write one JSON object for each input line, with its outcome.", valueName: "file"))
  package var report: String?

  @Option(help: FilterConfiguration.reportKeyHelp, transform: { try JSONPointer(path: $0) })
  package var reportKey: JSONPointer?

  @Flag(help: "Exit with 65 if any line was invalid.")
  package var strict = false

  package init() {}

  package func validate() throws {
    guard Validation.isOn, report == nil else { return }
    try Validation.checkCompanions(of: "--report", ("--report-key", reportKey != nil))
  }

  /// Refuses to write to a file that is also read. Call it before any file is opened.
  package func checkFiles() throws {
    let (input, output) = (FileIdentity(descriptor: STDIN_FILENO), FileIdentity(descriptor: STDOUT_FILENO))
    if let input, input == output { throw ValidationError("standard output and standard input are the same file; write to another.") }
    guard let report, let place = FileIdentity(path: report), place == input || place == output else { return }
    throw ValidationError("--report \(PrintableText.of(report)) is also the \(place == input ? "input" : "output"); choose another file.")
  }
}

extension FilterConfiguration {
  package static let reportKeyHelp = ArgumentHelp(
    "A place in each line, envelope included, such as /user or message.token. Each record of the report has its value as key.",
    valueName: "pointer")
}

extension URLDetail: ExpressibleByArgument {
  package static let help = ArgumentHelp(
    "How URLs appear in the log and the report: short (without query, truncated) or full.", valueName: "detail")
}
