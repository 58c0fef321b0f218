import ArgumentParser
import Attache
import AttacheArguments
import AttacheMetrics
import Logging

/// `attache [filter]`: reads payloads and writes them with their media.
struct FilterCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "filter", abstract: "Read payloads from standard input and write them, with their media, to standard output.")

  @OptionGroup(title: "Time and order") var timing: TimingOptions
  @OptionGroup(title: "Time and order") var order: OrderOptions
  @OptionGroup(title: "Payloads") var payloads: PayloadOptions
  @OptionGroup(title: "Fetching") var fetching: FetchOptions
  @OptionGroup(title: "Store") var storage: StoreOptions
  @OptionGroup(title: "Upload") var upload: UploadOptions
  @OptionGroup(title: "Your own service extension") var program: ExtensionOptions
  @OptionGroup var reporting: ReportingOptions
  @OptionGroup var metrics: MetricsServerOptions

  @Option(help: "Show a progress line on standard error: auto, always or never.")
  var progress = ProgressChoice.auto

  @Option(help: "Write messages as text or json.")
  var logFormat = LogFormat.text

  @Argument(help: .hidden)
  var words: [String] = []

  func validate() throws {
    if let word = words.first {
      let stray = StrayWord(word, isFirst: CommandLine.arguments.dropFirst().first == word)
      // Other options of a misspelt command are not the filter's.
      if stray.isCommand || Validation.isOn { throw ValidationError(stray.advice) }
    }
    guard Validation.isOn else { return }
    try payloads.checkAddress(upload, fetching)
    try reporting.checkFiles()
  }

  func run() throws {
    var configuration = try EngineConfiguration(timing, payloads, fetching, storage, upload: upload, order: order, reporting: reporting)
    configuration.serviceExtension = try program.configuration(fetching)
    let log = logFormat.logger()
    let process = try EngineProcess(working: configuration, log, notices: fetching.notice, program.notice(fetching))
    let figures = metrics.metrics == nil ? nil : FilterMetrics(version: attacheVersion)
    let server = try figures.flatMap { try metrics.start($0, log) }
    defer { server?.stop() }
    let (store, assembly) = try process.started { store, parent, uploader in
      try FilterAssembly(
        process.configuration, store: store, parent: parent, uploader: uploader,
        observe: figures?.observer, explain: { log.notify($0) },
        notify: { if case .originAnswers = $0 { log.notice("\($0)") } else { log.warning("\($0)") } },
        warn: { log.warning("\($0)") })
    }
    defer { store.shutdown() }
    let (filter, engine) = (assembly.filter, assembly.engine)
    figures?.use(lines: { filter.progress.lines }, conversionWait: engine.conversionWait)
    StopSignals.onEach(
      { filter.stop() }, { filter.cancel() },
      late: {
        log.notice(
          "stopping: payloads in progress, and a half-read line, have --deadline to end; another signal writes their originals at once")
      })
    if progress.isOn {
      ProgressLine.show {
        let progress = filter.progress
        return "\(progress.lines) lines, \(progress.attached) attached, \(progress.fallback) fallback"
      }
    }
    ProcessMemory.dropStart()
    let outcome = Result { () throws(FilterFailure) in try filter.run() }
    ErrorOutput.endProgress()
    let warning = engine.shutdown()
    let status = try end(outcome, warning, configuration, log)
    throw ExitCode(engine.isBroken ? ExitStatus.software : status)
  }

  /// Logs how the run ended.
  ///
  /// - Returns: the exit status, unless the engine is broken.
  private func end(
    _ outcome: Result<Filter.Result, FilterFailure>, _ warning: String?, _ configuration: EngineConfiguration, _ log: Logger
  ) throws -> Int32 {
    let result: Filter.Result
    do {
      result = try outcome.get()
    } catch {
      log.error("\(error)")
      throw ExitCode(error.exitStatus)
    }
    if let warning { log.warning("\(warning)") }
    log.info("\(result.summary.text(elapsed: result.elapsed))")
    if let failure = result.reportFailure { log.error("the report is incomplete: \(failure)") }
    return configuration.exitStatus(after: result)
  }
}
