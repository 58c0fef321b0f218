/// The system files that fetchers read when they start, and the library that they convert with. A confined fetcher may not open them.
struct FetchFiles {
  /// libmagic's own database, for the detectors of all loops.
  let database: MagicCookie
  /// The identity of the run's root certificates.
  let roots: [UInt8]

  /// - Throws: ``StartError`` when the database or the library cannot be loaded, or when the file of
  ///   root certificates is invalid.
  init(_ configuration: FetchConfiguration) throws(StartError) {
    if configuration.steps.conversion != nil { try ConverterLibrary.load() }
    roots = try RootCertificates.check(configuration.rootCertificates)
    do throws(TypeDetectorError) {
      database = try TypeDetector.loadDatabase()
    } catch {
      throw StartError("\(error)")
    }
  }
}
