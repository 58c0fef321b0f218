public import ArgumentParser
public import Attache

/// What a filter does with the payloads that it reads: the flags that every command which runs one takes.
package struct FilterOptions: ParsableArguments {
  @OptionGroup(title: "Time and order") package var timing: TimingOptions
  @OptionGroup(title: "Time and order") package var order: OrderOptions
  @OptionGroup(title: "Payloads") package var payloads: PayloadOptions
  @OptionGroup(title: "Fetching") package var fetching: FetchOptions
  @OptionGroup(title: "Store") package var storage: StoreOptions

  @Option(help: ArgumentHelp("Write one JSON object a line of input that says what became of it.", valueName: "file"))
  package var report: String?

  @Option(help: ArgumentHelp("How much of a URL the log and the report show: short (no query, cut) or full.", valueName: "detail"))
  package var logUrls = URLDetail.short

  @Flag(help: "Exit 65 when any line was invalid.")
  package var strict = false

  package init() {}

  /// The filter's own part of the flags.
  package func filterConfiguration() throws -> Filter.Configuration {
    var configuration = Filter.Configuration()
    configuration.deadline = timing.deadline.duration
    configuration.jobs = timing.jobs
    configuration.windowBytes = Int(order.window.bytes)
    configuration.isOrdered = !order.unordered
    configuration.outputKey = payloads.outputKey
    configuration.payloadPath = payloads.payloadPath
    configuration.dialects = try payloads.table()
    configuration.appliesOverrides = payloads.applyOverrides
    configuration.baseURL = payloads.baseUrl
    configuration.maximumPayload = payloads.maxPayload.map { Int($0.bytes) }
    configuration.report = report
    configuration.urlDetail = logUrls
    return configuration
  }

  /// The exit status of `attache` after a run, as sysexits.h numbers it.
  package func exitStatus(after result: Filter.Result) -> Int32 {
    if result.reportFailure != nil { return ExitStatus.inputOutput }
    if !result.isComplete { return ExitStatus.temporaryFailure }
    return strict && result.summary.lines(.invalid) > 0 ? ExitStatus.data : 0
  }
}

extension URLDetail: ExpressibleByArgument {}
