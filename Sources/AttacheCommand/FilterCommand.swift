import ArgumentParser
import Attache
import Glibc
import Logging

/// `attache [filter]`: payloads in, payloads with their media out.
struct FilterCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "filter", abstract: "Read payloads on standard input, write them with their media on standard output.")

  @OptionGroup(title: "Time and order") var timing: TimingOptions
  @OptionGroup(title: "Payloads") var payloads: PayloadOptions
  @OptionGroup(title: "Fetching") var fetching: FetchOptions
  @OptionGroup(title: "Store") var storage: StoreOptions

  @Option(help: ArgumentHelp("Write one JSON object a line of input that says what became of it.", valueName: "file"))
  var report: String?

  @Flag(help: "Exit 65 when any line was invalid.")
  var strict = false

  @Option(help: "Show a progress line on standard error: auto, always or never.")
  var progress = ProgressChoice.auto

  @Option(help: "Write messages as text or json.")
  var logFormat = LogFormat.text

  func run() throws {
    StopSignals.block()
    DescriptorLimit.raise()
    let log = logFormat.logger()
    let store = try orExit(ExitStatus.cannotCreate, log) { try storage.open() }
    defer { store.shutdown() }
    let filter = try orExit(ExitStatus.software, log) { try makeFilter(store, log) }
    StopSignals.onEach { count in count == 1 ? filter.stop() : filter.cancel() }
    if progress.isOn { ProgressLine.show(filter) }
    let result = try orExit(ExitStatus.inputOutput, log) { try filter.run() }
    if progress.isOn { ProgressLine.clear() }
    log.info("\(result.summary.text(elapsed: result.elapsed))")
    if let failure = result.reportFailure { log.error("the report is not whole: \(failure)") }
    throw ExitCode(status(of: result))
  }

  private func makeFilter(_ store: AttachmentStore, _ log: Logger) throws -> Filter {
    let clock = try MonotonicClock()
    let fetcher = try MediaFetcher(fetching.configuration, store: store)
    let (maximum, onExpiry) = (timing.maxAttachments, timing.onExpiry)
    let host = ServiceExtensionHost(clock: clock, grace: timing.effectiveGrace) {
      MediaExtension(fetcher: fetcher, store: store, maximumAttachments: maximum, onExpiry: onExpiry)
    }
    return try Filter(configuration(), host: host, store: store, clock: clock) { explanation in log.notice("\(explanation)") }
  }

  private func configuration() throws -> Filter.Configuration {
    var configuration = Filter.Configuration()
    configuration.deadline = timing.deadline.duration
    configuration.jobs = timing.jobs
    configuration.windowBytes = Int(timing.window.bytes)
    configuration.isOrdered = !timing.unordered
    configuration.outputKey = payloads.outputKey
    configuration.payloadPath = payloads.payloadPath
    configuration.dialects = try payloads.table()
    configuration.baseURL = payloads.baseUrl
    configuration.maximumPayload = payloads.maxPayload.map { Int($0.bytes) }
    configuration.report = report
    return configuration
  }

  private func status(of result: Filter.Result) -> Int32 {
    if result.reportFailure != nil { return ExitStatus.inputOutput }
    if !result.isComplete { return ExitStatus.temporaryFailure }
    return strict && result.summary.lines(.invalid) > 0 ? ExitStatus.data : 0
  }

  /// Says what went wrong and ends with the status.
  private func orExit<Value>(_ status: Int32, _ log: Logger, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      log.error("\(error)")
      throw ExitCode(status)
    }
  }
}

/// The descriptors that a process may have.
enum DescriptorLimit {
  /// Raises the soft limit to the hard one: a connection is a descriptor, and `--jobs` may be thousands.
  static func raise() {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
