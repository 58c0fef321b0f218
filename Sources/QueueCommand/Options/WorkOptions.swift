import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue

/// The flags for how a queue's payloads are processed.
struct WorkOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The earlier name of --fetchers.", valueName: "n"))
  var workers: Int?

  @Option(help: ArgumentHelp("The maximum number of attempts for a payload whose media failed transiently.", valueName: "n"))
  var attempts = 3

  @Option(
    help: ArgumentHelp(
      "Give up a payload that ended its worker this many times while no other was in flight: its original is the result.", valueName: "n"))
  var poisonAfter = 3

  @Option(
    help: ArgumentHelp(
      "When results are safe from a power failure: always (at once), group (within a second) or off. A killed process loses nothing.",
      valueName: "when"))
  var sync = SyncChoice.group

  @OptionGroup(title: "Time and order") var timing: TimingOptions
  @OptionGroup(title: "Payloads") var payloads: PayloadOptions
  @OptionGroup(title: "Fetching") var fetching: FetchOptions
  @OptionGroup(title: "Store") var storage: StoreOptions
  @OptionGroup(title: "Upload") var upload: UploadOptions
  @OptionGroup(title: "Your own service extension") var program: ExtensionOptions

  @Option(help: URLDetail.help)
  var logUrls = URLDetail.short

  @Option(help: Filter.Configuration.reportKeyHelp, transform: { try JSONPointer(path: $0) })
  var reportKey: JSONPointer?

  @Option(help: "Write messages as text or json.")
  var logFormat = LogFormat.text

  /// A message about the flags for the log at the start.
  var notice: String? {
    workers.map { "--workers is the earlier name; use --fetchers \($0)" }
  }

  func configuration() throws -> EngineConfiguration {
    var configuration = try EngineConfiguration(timing, payloads, fetching, storage, upload: upload)
    configuration.serviceExtension = try program.configuration(fetching)
    (configuration.filter.urlDetail, configuration.filter.reportKey) = (logUrls, reportKey)
    configuration.fetching.fetchers = fetching.fetchers ?? workers
    return configuration
  }

  /// Rejects a queue whose deliverers may run on machines that cannot read this machine's store.
  ///
  /// - Throws: `ValidationError`.
  func checkReach(of queue: QueueLocation) throws {
    guard queue.sharesAttachments, upload.upload == nil, payloads.baseUrl == nil else { return }
    throw ValidationError(
      "the attachments would lie on this machine only, and the queue's results may be delivered from another; add --upload s3://BUCKET, "
        + "or --base-url with the URL at which this machine serves its store.")
  }

  func validate() throws {
    guard Validation.isOn else { return }
    try payloads.checkAddress(upload, fetching)
    if let workers { try CountArgument.check(workers, "--workers", in: 1...MediaFetcher.maximumFetchers) }
    if workers != nil, fetching.fetchers != nil {
      throw ValidationError("--workers is the earlier name of --fetchers; give only --fetchers.")
    }
    try CountArgument.check(attempts, "--attempts")
    try CountArgument.check(poisonAfter, "--poison-after")
  }
}
