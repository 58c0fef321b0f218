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

  @Option(help: FilterConfiguration.reportKeyHelp, transform: { try JSONPointer(path: $0) })
  var reportKey: JSONPointer?

  @Option(help: "Write messages as text or json.")
  var logFormat = LogFormat.text

  func configuration() throws -> EngineConfiguration {
    var configuration = try EngineConfiguration(timing, payloads, fetching, storage, upload: upload)
    configuration.serviceExtension = try program.configuration(fetching)
    (configuration.filter.urlDetail, configuration.filter.reportKey) = (logUrls, reportKey)
    return configuration
  }

  /// Rejects a queue on a server without `--upload`: its deliverers may run on machines that cannot
  /// read this machine's store, and the store does not know what they still need.
  ///
  /// - Throws: `ValidationError`.
  func checkReach(of queue: QueueLocation) throws {
    guard queue.isOnServer, upload.upload == nil else { return }
    throw ValidationError(
      "a queue on a server needs --upload s3://BUCKET, since its results may be delivered from another machine. A store that one machine "
        + "serves with --base-url is for a queue of one machine: sqlite:PATH.")
  }

  func validate() throws {
    guard Validation.isOn else { return }
    try payloads.checkAddress(upload, fetching)
    try CountArgument.check(attempts, "--attempts")
    try CountArgument.check(poisonAfter, "--poison-after")
  }
}
