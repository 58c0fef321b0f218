public import ArgumentParser
public import Attache

/// What is done with a payload, wherever it comes from: the flags that the filter and a queue's
/// worker share.
///
/// No group of flags itself: ArgumentParser, when built for debugging, looks through each group
/// once for each group that it is nested in.
package struct EngineOptions {
  package var timing: TimingOptions
  package var payloads: PayloadOptions
  package var fetching: FetchOptions
  package var storage: StoreOptions
  package var logUrls: URLDetail

  package init(timing: TimingOptions, payloads: PayloadOptions, fetching: FetchOptions, storage: StoreOptions, logUrls: URLDetail) {
    (self.timing, self.payloads, self.fetching, self.storage, self.logUrls) = (timing, payloads, fetching, storage, logUrls)
  }

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

extension URLDetail: ExpressibleByArgument {
  package static let help = ArgumentHelp(
    "How much of a URL the log and the report show: short (no query, cut) or full.", valueName: "detail")
}
