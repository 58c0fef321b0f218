/// The system files that fetchers read when they start. A confined fetcher may not open them.
struct FetchFiles {
  /// libmagic's own database, for the detectors of all loops.
  let database: MagicCookie
  /// The identity of the run's root certificates.
  let roots: [UInt8]

  /// - Throws: ``StartError`` when the database cannot be loaded or the file of root certificates
  ///   is invalid.
  init(_ configuration: MediaFetcher.Configuration) throws(StartError) {
    roots = try RootCertificates.check(configuration.rootCertificates)
    do throws(TypeDetectorError) {
      database = try TypeDetector.loadDatabase()
    } catch {
      throw StartError("\(error)")
    }
  }
}
