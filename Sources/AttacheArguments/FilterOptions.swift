package import ArgumentParser
package import Attache
internal import Glibc

/// What a filter does with the payloads that it reads: the flags that every command which runs one
/// takes.
package struct FilterOptions: ParsableArguments {
  @OptionGroup(title: "Time and order") package var timing: TimingOptions
  @OptionGroup(title: "Time and order") package var order: OrderOptions
  @OptionGroup(title: "Payloads") package var payloads: PayloadOptions
  @OptionGroup(title: "Fetching") package var fetching: FetchOptions
  @OptionGroup(title: "Store") package var storage: StoreOptions

  @OptionGroup package var reporting: ReportingOptions

  package init() {}

  /// Flags that a command has read in groups of its own: ArgumentParser, when built for debugging,
  /// takes five times as long for each group within a group.
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

  /// The filter's own part of the flags.
  package func filterConfiguration() throws -> Filter.Configuration {
    var configuration = try engine.configuration()
    configuration.windowBytes = Int(order.window.bytes)
    configuration.isOrdered = !order.unordered
    configuration.report = reporting.report
    return configuration
  }

  /// Refuses to write into what is read: to be called before anything is opened.
  package func checkFiles() throws {
    let (input, output) = (FileIdentity(descriptor: STDIN_FILENO), FileIdentity(descriptor: STDOUT_FILENO))
    if let input, input == output { throw ValidationError("standard output is the file that standard input reads; write to another.") }
    guard let report = reporting.report, let place = FileIdentity(path: report), place == input || place == output else { return }
    throw ValidationError("--report \(PrintableText.of(report)) is the file that is \(place == input ? "read" : "written"); name another.")
  }

  /// The exit status of `attache` after a run that failed.
  package func exitStatus(after failure: Filter.Failure) -> Int32 {
    switch failure {
    case .input, .output, .report: ExitStatus.inputOutput
    case .start: ExitStatus.software
    }
  }

  /// The exit status of `attache` after a run, as sysexits.h numbers it.
  package func exitStatus(after result: Filter.Result) -> Int32 {
    if result.reportFailure != nil { return ExitStatus.inputOutput }
    if !result.isComplete { return ExitStatus.temporaryFailure }
    return reporting.strict && result.summary.lines(.invalid) > 0 ? ExitStatus.data : 0
  }
}

/// What a filter says of its work.
package struct ReportingOptions: ParsableArguments {
  @Option(help: URLDetail.help)
  package var logUrls = URLDetail.short

  @Option(help: ArgumentHelp("Write one JSON object a line of input that says what became of it.", valueName: "file"))
  package var report: String?

  @Flag(help: "Exit 65 when any line was invalid.")
  package var strict = false

  package init() {}
}
