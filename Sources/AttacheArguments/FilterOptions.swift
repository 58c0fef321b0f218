package import ArgumentParser
package import Attache

/// What a filter does with the payloads that it reads: the flags that every command which runs one takes.
package struct FilterOptions: ParsableArguments {
  @OptionGroup(title: "Time and order") package var timing: TimingOptions
  @OptionGroup(title: "Time and order") package var order: OrderOptions
  @OptionGroup(title: "Payloads") package var payloads: PayloadOptions
  @OptionGroup(title: "Fetching") package var fetching: FetchOptions
  @OptionGroup(title: "Store") package var storage: StoreOptions

  @Option(help: URLDetail.help)
  package var logUrls = URLDetail.short

  @Option(help: ArgumentHelp("Write one JSON object a line of input that says what became of it.", valueName: "file"))
  package var report: String?

  @Flag(help: "Exit 65 when any line was invalid.")
  package var strict = false

  package init() {}

  package var engine: EngineOptions {
    EngineOptions(timing: timing, payloads: payloads, fetching: fetching, storage: storage, logUrls: logUrls)
  }

  /// The filter's own part of the flags.
  package func filterConfiguration() throws -> Filter.Configuration {
    var configuration = try engine.configuration()
    configuration.windowBytes = Int(order.window.bytes)
    configuration.isOrdered = !order.unordered
    configuration.report = report
    return configuration
  }

  /// The exit status of `attache` after a run, as sysexits.h numbers it.
  package func exitStatus(after result: Filter.Result) -> Int32 {
    if result.reportFailure != nil { return ExitStatus.inputOutput }
    if !result.isComplete { return ExitStatus.temporaryFailure }
    return strict && result.summary.lines(.invalid) > 0 ? ExitStatus.data : 0
  }
}
