import ArgumentParser
import Attache
import AttacheArguments
import AttacheInspection

/// The filter's flags, as far as a preview must understand them. The filter checks them as well.
struct FilterFlags: ParsableArguments {
  /// The flags that a preview gives itself, or that would put the lines out of order.
  static let reserved = ["--report", "--unordered"]

  @OptionGroup var timing: TimingOptions
  @OptionGroup var order: OrderOptions
  @OptionGroup var payloads: PayloadOptions
  @OptionGroup var fetching: FetchOptions
  @OptionGroup var storage: StoreOptions
  @OptionGroup var upload: UploadOptions
  @OptionGroup var reporting: ReportingOptions
  @Option var progress = ProgressChoice.auto
  @Option var logFormat = LogFormat.text

  /// The folder of attachments that the run used.
  var store: String { storage.configuration.directory }

  /// Returns the inspection of what the filter reads.
  func inspection() throws -> Inspector.Configuration {
    Inspector.Configuration(
      try payloads.configuration(), policy: fetching.configuration.policy, converts: fetching.convert,
      maximumAttachments: timing.maxAttachments)
  }
}
