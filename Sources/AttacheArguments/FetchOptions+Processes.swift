package import Attache

extension FetchOptions {
  /// Forks the parent of the fetcher processes. Call it while the process has one thread and no
  /// open database, store or connection.
  ///
  /// - Parameter timing: gives the number of fetches that may be in flight.
  /// - Throws: ``SystemError`` when the system refuses.
  package func fetcherParent(_ storage: StoreOptions, _ timing: TimingOptions) throws(SystemError) -> FetcherParent {
    let fetches = timing.jobs.multipliedReportingOverflow(by: timing.maxAttachments)
    return try FetcherParent(
      configuration, store: storage.folder, maximumBytes: storage.storeMax.bytes, maximumAge: storage.storeAge.duration,
      fetches: fetches.overflow ? .max : fetches.partialValue)
  }
}
