/// What fetchers start with. Their parent loads it before it forks them, because a confined fetcher
/// may not open these files.
///
/// `@unchecked Sendable`: the parent has one thread, and a fetcher passes it to one thread.
struct FetcherStart: @unchecked Sendable {
  let files: Result<FetchFiles, StartError>
  /// nil if libcurl finds the root certificates by itself.
  let roots: CurlRoots?
  /// Whether the library of converters may have been loaded.
  let converts: Bool

  init(_ configuration: FetchConfiguration) {
    _ = NetworkLibraries.areSetUp
    converts = configuration.steps.conversion != nil
    files = Result { () throws(StartError) in try FetchFiles(configuration) }
    roots = CurlRoots(configuration.rootCertificates)
    // The system's root certificates are parsed when they are first needed, because that takes 50
    // ms.
    if configuration.rootCertificates != nil { roots?.load() }
  }
}
