import ArgumentParser
import Attache
import AttacheArguments
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
  @OptionGroup var reporting: ReportingOptions

  @Option(help: "Show a progress line on standard error: auto, always or never.")
  var progress = ProgressChoice.auto

  @Option(help: "Write messages as text or json.")
  var logFormat = LogFormat.text

  @Argument(help: .hidden)
  var words: [String] = []

  private var options: FilterOptions {
    FilterOptions(timing: timing, order: order, payloads: payloads, fetching: fetching, storage: storage, reporting: reporting)
  }

  func validate() throws {
    if let word = words.first { throw ValidationError(StrayWord.advice(word, isFirst: CommandLine.arguments.dropFirst().first == word)) }
    try options.checkFiles()
  }

  func run() throws {
    let options = options
    // This must run while the process has one thread.
    AmbientEnvironment.removeUnsafeVariables()
    ProcessMemory.tuneAllocator()
    StopSignals.block()
    DescriptorLimit.raise()
    let log = logFormat.logger()
    if let notice = options.engine.fetching.notice { log.notice("\(notice)") }
    let parent = try orExit(ExitStatus.software, log) {
      try options.engine.fetching.fetcherParent(options.engine.storage, options.engine.timing)
    }
    let store = try orExit(ExitStatus.cannotCreate, log) { try options.engine.storage.open() }
    defer { store.shutdown() }
    let assembly = try orExit(ExitStatus.software, log) {
      try FilterAssembly(options, store: store, parent: parent, explain: { log.notify($0) }, notify: { log.warning("\($0)") })
    }
    let (filter, engine) = (assembly.filter, assembly.engine)
    StopSignals.onEach({ filter.stop() }, { filter.cancel() })
    if progress.isOn { ProgressLine.show(filter) }
    ProcessMemory.dropStart()
    let outcome = Result { () throws(Filter.Failure) in try filter.run() }
    ErrorOutput.endProgress()
    let warning = engine.shutdown()
    let result: Filter.Result
    do {
      result = try outcome.get()
    } catch {
      log.error("\(error)")
      throw ExitCode(options.exitStatus(after: error))
    }
    if let warning { log.warning("\(warning)") }
    log.info("\(result.summary.text(elapsed: result.elapsed))")
    if let failure = result.reportFailure { log.error("the report is not whole: \(failure)") }
    throw ExitCode(engine.isBroken ? ExitStatus.software : options.exitStatus(after: result))
  }

  /// Logs an error and ends with the exit status.
  private func orExit<Value>(_ status: Int32, _ log: Logger, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      log.error("\(error)")
      throw ExitCode(status)
    }
  }
}
