import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue

/// The flags for how a queue's payloads are processed.
struct WorkOptions: ParsableArguments {
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

  func configuration() throws -> EngineConfiguration {
    var configuration = try EngineConfiguration(timing, payloads, fetching, storage, upload: upload)
    configuration.serviceExtension = try program.configuration(fetching)
    (configuration.filter.urlDetail, configuration.filter.reportKey) = (logUrls, reportKey)
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
    try CountArgument.check(attempts, "--attempts")
    try CountArgument.check(poisonAfter, "--poison-after")
  }
}
