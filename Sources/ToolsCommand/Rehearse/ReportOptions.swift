internal import ArgumentParser
internal import Attache
internal import AttacheArguments
internal import AttacheTesting

/// The flags for the reports.
struct ReportOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Write a JUnit file.", valueName: "file"), completion: .file())
  var junit: String?

  @Flag(help: "Write TAP (version 14) to standard output instead of the report for people.")
  var tap = false

  @Option(help: ArgumentHelp("Write everything as one JSON object.", valueName: "file"), completion: .file())
  var json: String?

  @Option(
    help: ArgumentHelp("Write a page that shows the notifications of each scenario or situation, before and after.", valueName: "file|dir"),
    completion: .file())
  var preview: String?

  @Option(
    help: ArgumentHelp(
      "Compare with an earlier file of --json: a changed outcome or reason, a missing scenario, or a grown lateness is a failure.",
      valueName: "file"), completion: .file())
  var baseline: String?

  @Option(help: ArgumentHelp("How much the worst lateness of a scenario may grow. (default: 100ms)", valueName: "time"))
  var tolerance: DurationArgument?

  @Flag(help: "Also show what happened in scenarios that passed.")
  var verbose = false

  func validate() throws {
    guard Validation.isOn else { return }
    guard tolerance == nil || baseline != nil else { throw ValidationError("--tolerance needs --baseline.") }
    guard json == nil || json != junit else { throw ValidationError("--json and --junit name the same file; give each its own.") }
    guard preview == nil || (preview != json && preview != junit) else {
      throw ValidationError("--preview names the file of another report; give each its own.")
    }
    guard !(tap && verbose) else {
      throw ValidationError("--verbose changes the report for people, which --tap replaces; remove one of them.")
    }
  }

  /// Opens all requested reports.
  ///
  /// - Throws: status 74 when a file cannot be written.
  func open() throws -> [any RehearsalReport] {
    let files = [json, junit].map { $0.map(WholeFile.init) }
    let page = preview.flatMap { $0.hasSuffix(".html") ? WholeFile(path: $0) : nil }
    for file in (files + [page]).compactMap({ $0 }) {
      do throws(ReportFailure) { try file.check() } catch {
        Terminal.error.write("attache rehearse: \(error)\n")
        throw ExitCode(ExitStatus.inputOutput)
      }
    }
    var reports: [any RehearsalReport] = [tap ? TAPReport(.output) : PeopleReport(.output, isVerbose: verbose)]
    if let file = files[0] { reports.append(JSONReport(file)) }
    if let file = files[1] { reports.append(JUnitReport(file)) }
    if let preview { reports.append(PreviewReport(preview)) }
    return reports
  }

  /// Reads the earlier rehearsal to compare with; nil when none was given.
  ///
  /// - Throws: status 65 when the file is not a usable baseline.
  func readBaseline(clock: String) throws -> Baseline? {
    guard let path = baseline else { return nil }
    do throws(BaselineError) {
      return try Baseline(contentsOfFile: path, tolerance: tolerance?.duration ?? .milliseconds(100), clock: clock)
    } catch {
      Terminal.error.write("attache rehearse: \(error)\n")
      throw ExitCode(ExitStatus.data)
    }
  }
}
