public import ArgumentParser
public import Attache

/// The flags that the filter and the queue worker share: how a payload is processed, wherever it
/// comes from.
///
/// This is not an option group itself: a debug build of ArgumentParser visits each group once for
/// each group that it is nested in.
package struct EngineOptions {
  package var timing: TimingOptions
  package var payloads: PayloadOptions
  package var fetching: FetchOptions
  package var storage: StoreOptions
  package var logUrls: URLDetail

  package init(timing: TimingOptions, payloads: PayloadOptions, fetching: FetchOptions, storage: StoreOptions, logUrls: URLDetail) {
    (self.timing, self.payloads, self.fetching, self.storage, self.logUrls) = (timing, payloads, fetching, storage, logUrls)
  }

  /// Returns the filter configuration that these flags describe.
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
    "How URLs appear in the log and the report: short (without query, truncated) or full.", valueName: "detail")
}
