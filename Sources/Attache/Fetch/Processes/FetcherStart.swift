/// What fetchers begin with. Their parent loads it before it forks them: a confined fetcher may not
/// open these files.
///
/// `@unchecked Sendable`: the parent has one thread, and a fetcher hands it to one thread.
struct FetcherStart: @unchecked Sendable {
  let files: Result<FetchFiles, StartError>
  let rules = SignatureRules()
  /// nil where libcurl finds the roots by itself.
  let roots: CurlRoots?

  init(_ configuration: MediaFetcher.Configuration) {
    _ = NetworkLibraries.areSetUp
    files = Result { () throws(StartError) in try FetchFiles(configuration) }
    roots = CurlRoots(configuration.rootCertificates)
    // The system's are parsed when they are first needed: that takes 50 ms.
    if configuration.rootCertificates != nil { roots?.load() }
  }
}
