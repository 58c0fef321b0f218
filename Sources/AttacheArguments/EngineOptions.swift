public import ArgumentParser
public import Attache

/// What is done with a payload, wherever it comes from: the flags that the filter and a queue's worker share.
package struct EngineOptions: ParsableArguments {
  @OptionGroup(title: "Time and order") package var timing: TimingOptions
  @OptionGroup(title: "Payloads") package var payloads: PayloadOptions
  @OptionGroup(title: "Fetching") package var fetching: FetchOptions
  @OptionGroup(title: "Store") package var storage: StoreOptions

  @Option(help: ArgumentHelp("How much of a URL the log and the report show: short (no query, cut) or full.", valueName: "detail"))
  package var logUrls = URLDetail.short

  package init() {}

  /// What these flags say of a filter.
  package func configuration() throws -> Filter.Configuration {
    var configuration = Filter.Configuration()
    configuration.deadline = timing.deadline.duration
    configuration.jobs = timing.jobs
    configuration.outputKey = payloads.outputKey
    configuration.payloadPath = payloads.payloadPath
    configuration.dialects = try payloads.table()
    configuration.appliesOverrides = payloads.applyOverrides
    configuration.baseURL = payloads.baseUrl
    configuration.maximumPayload = payloads.maxPayload.map { Int($0.bytes) }
    configuration.urlDetail = logUrls
    return configuration
  }
}

extension URLDetail: ExpressibleByArgument {}
