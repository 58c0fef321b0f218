package import ArgumentParser
package import Attache
internal import Glibc

/// The flags of every command that runs a filter: what the filter does with the payloads that it
/// reads.
package struct FilterOptions: ParsableArguments {
  @OptionGroup(title: "Time and order") package var timing: TimingOptions
  @OptionGroup(title: "Time and order") package var order: OrderOptions
  @OptionGroup(title: "Payloads") package var payloads: PayloadOptions
  @OptionGroup(title: "Fetching") package var fetching: FetchOptions
  @OptionGroup(title: "Store") package var storage: StoreOptions

  @OptionGroup package var reporting: ReportingOptions

  package init() {}

  /// Combines flags that a command has parsed in its own groups. A debug build of ArgumentParser
  /// takes five times as long for each nested group.
  package init(
    timing: TimingOptions, order: OrderOptions, payloads: PayloadOptions, fetching: FetchOptions, storage: StoreOptions,
    reporting: ReportingOptions
  ) {
    (self.timing, self.order, self.payloads) = (timing, order, payloads)
    (self.fetching, self.storage, self.reporting) = (fetching, storage, reporting)
  }

  package var engine: EngineOptions {
    EngineOptions(timing: timing, payloads: payloads, fetching: fetching, storage: storage, logUrls: reporting.logUrls)
  }

  /// Returns the filter configuration that all these flags describe.
  package func filterConfiguration() throws -> Filter.Configuration {
    var configuration = try engine.configuration()
    configuration.windowBytes = Int(order.window.bytes)
    configuration.isOrdered = !order.unordered
    configuration.report = reporting.report
    return configuration
  }

  /// Refuses to write to a file that is also read. Call it before any file is opened.
  package func checkFiles() throws {
    let (input, output) = (FileIdentity(descriptor: STDIN_FILENO), FileIdentity(descriptor: STDOUT_FILENO))
    if let input, input == output { throw ValidationError("standard output and standard input are the same file; write to another.") }
    guard let report = reporting.report, let place = FileIdentity(path: report), place == input || place == output else { return }
    throw ValidationError("--report \(PrintableText.of(report)) is also the \(place == input ? "input" : "output"); choose another file.")
  }

  /// Returns the exit status of `attache` after a run that failed.
  package func exitStatus(after failure: Filter.Failure) -> Int32 {
    switch failure {
    case .input, .output, .report: ExitStatus.inputOutput
    case .start: ExitStatus.software
    }
  }

  /// Returns the exit status of `attache` after a run, numbered as in sysexits.h.
  package func exitStatus(after result: Filter.Result) -> Int32 {
    if result.reportFailure != nil { return ExitStatus.inputOutput }
    if !result.isComplete { return ExitStatus.temporaryFailure }
    return reporting.strict && result.summary.lines(.invalid) > 0 ? ExitStatus.data : 0
  }
}

/// The flags for what a filter reports about its work.
package struct ReportingOptions: ParsableArguments {
  @Option(help: URLDetail.help)
  package var logUrls = URLDetail.short

  @Option(help: ArgumentHelp("Write one JSON object for each input line, with its outcome.", valueName: "file"))
  package var report: String?

  @Flag(help: "Exit with 65 if any line was invalid.")
  package var strict = false

  package init() {}
}
