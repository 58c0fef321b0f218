internal import ArgumentParser
package import Attache

extension EngineConfiguration {
  /// Creates the configuration that flags describe.
  ///
  /// - Throws: `ValidationError` when the table of dialects cannot be built, or the
  ///   flags of the upload are wrong.
  package init(
    _ timing: TimingOptions, _ payloads: PayloadOptions, _ fetching: FetchOptions, _ storage: StoreOptions, upload: UploadOptions? = nil,
    order: OrderOptions? = nil,
    reporting: ReportingOptions? = nil
  ) throws {
    self.init(store: storage.configuration)
    filter = try payloads.configuration()
    (filter.deadline, filter.jobs) = (timing.deadline.duration, timing.jobs)
    if let order { (filter.windowBytes, filter.isOrdered) = (Int(order.window.bytes), !order.unordered) }
    if let reporting {
      (filter.report, filter.reportKey, filter.urlDetail) = (reporting.report, reporting.reportKey, reporting.logUrls)
      isStrict = reporting.strict
    }
    self.fetching = fetching.configuration
    headerFile = fetching.headerFile
    if let upload { publish(in: try upload.bucket(fetching), includesPrivate: upload.uploadPrivate) }
    (grace, maximumAttachments, onExpiry) = (timing.grace?.duration, timing.maxAttachments, timing.onExpiry)
  }
}
