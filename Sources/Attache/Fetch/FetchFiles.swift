/// What fetchers read of the system's files when they start. A confined fetcher may not open them.
struct FetchFiles {
  /// libmagic's own database, for the detectors of all loops.
  let database: MagicCookie
  /// What tells the run's root certificates from others.
  let roots: [UInt8]

  /// - Throws: ``StartError`` for a database that cannot be loaded, and for a wrong file of roots.
  init(_ configuration: MediaFetcher.Configuration) throws(StartError) {
    roots = try RootCertificates.check(configuration.rootCertificates)
    do throws(TypeDetectorError) {
      database = try TypeDetector.loadDatabase()
    } catch {
      throw StartError("\(error)")
    }
  }
}
