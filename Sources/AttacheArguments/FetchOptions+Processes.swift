package import Attache

extension FetchOptions {
  /// Forks what starts the fetchers' processes: to be called while the process has one thread and no open database, store or connection.
  ///
  /// - Throws: ``SystemError`` when the system refuses.
  package func fetcherParent(_ storage: StoreOptions) throws(SystemError) -> FetcherParent {
    try FetcherParent(
      configuration, store: storage.folder, maximumBytes: storage.storeMax.bytes, maximumAge: storage.storeAge.duration)
  }
}
