internal import ArgumentParser
internal import Attache
internal import AttacheArguments
internal import AttacheTesting
internal import Foundation

/// `attache record FILE`: runs the filter and writes what it met as a scenario.
struct Record: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Run the filter and record its input and network as a scenario for attache rehearse.",
    discussion: """
      Payloads come on standard input and go to standard output as with attache filter, whose flags it accepts. When the input ends, or at SIGTERM, \
      SIGINT or SIGHUP, FILE holds the payloads, what each origin and name server did and when, and the result of each payload. Media are replaced by \
      stand-ins of the same type and size; a file that is too small for one (below 212 bytes) stays as it is. Payloads are kept unchanged: review them before you share the scenario.
      """)

  @Argument(help: "The scenario to write, a .yaml file; one that exists is replaced.", completion: .file(extensions: ["yaml"]))
  var file: String

  @Flag(help: "Keep the media, in a folder beside FILE, instead of stand-ins.")
  var keepMedia = false

  @OptionGroup(title: "Time and order") var timing: TimingOptions
  @OptionGroup(title: "Time and order") var order: OrderOptions
  @OptionGroup(title: "Payloads") var payloads: PayloadOptions
  @OptionGroup(title: "Fetching") var fetching: FetchOptions
  @OptionGroup(title: "Store") var storage: StoreOptions
  @OptionGroup var reporting: ReportingOptions

  func validate() throws {
    guard Validation.isOn else { return }
    guard Scenario.fileEndings.contains(where: { file.hasSuffix("." + $0) }) else {
      throw ValidationError("\(file): a scenario's name ends in .yaml")
    }
    try payloads.checkAddress()
    try reporting.checkFiles()
  }

  func run() async throws {
    do {
      let status = try await recorded()
      throw ExitCode(status)
    } catch let error as ExitCode {
      throw error
    } catch let error as StoreError {
      try fail(error, ExitStatus.cannotCreate)
    } catch let error as FilterFailure {
      try fail(error, error.exitStatus)
    } catch let error as StartError {
      try fail(error, ExitStatus.software)
    } catch {
      try fail(error, ExitStatus.inputOutput)
    }
  }

  /// Runs the filter, records the run, and writes the scenario.
  ///
  /// - Returns: the filter's exit status.
  private func recorded() async throws -> Int32 {
    if let notice = fetching.notice { say(notice) }
    var configuration = try EngineConfiguration(timing, payloads, fetching, storage, order: order, reporting: reporting)
    // A rehearsal begins with an empty store, so nothing kept by an earlier run may replace an
    // origin.
    if configuration.fetching.cache == .http { configuration.fetching.cache = .session }
    do throws(StartError) {
      try AttachmentStore.checkReach(to: configuration.store.directory, reading: [])
    } catch {
      try fail(error, ExitStatus.cannotCreate)
    }
    do { try configuration.readHeaderFile() } catch {
      say("\(error)")
      return ExitStatus.data
    }
    let recorder = Recorder(keepsMedia: keepMedia)
    let run = try RecordedRun(configuration, recorder: recorder)
    let signals = Signals()
    Task {
      await signals.onEach({ run.stop() }, { run.cancel() })
    }
    let result = try await run.finished()
    let arguments = Array(CommandLine.arguments.dropFirst(2))
    let flags = RecordedFlags.kept(of: arguments, file: file)
    if RecordedFlags.lacksDialects(of: arguments) {
      say("the scenario does not have --dialects, since it may not name other files; use --media-key in its flags to name the same media")
    }
    let recording = try run.recording(flags: flags + ["--cache", configuration.fetching.cache.rawValue])
    try write(recording)
    return configuration.exitStatus(after: result)
  }

  private func write(_ recording: Recording) throws {
    let url = URL(filePath: file)
    let folder = url.deletingPathExtension().lastPathComponent + "-media"
    let (scenario, media) = recording.scenario(file: file, mediaFolder: keepMedia ? folder : nil)
    for medium in media {
      let place = url.deletingLastPathComponent().appending(path: medium.name)
      try FileManager.default.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(medium.bytes).write(to: place, options: .atomic)
    }
    try WholeFile(path: file).write(scenario.yaml())
  }

  private func say(_ text: String) {
    ErrorOutput.write("attache record: \(text)\n")
  }

  private func fail(_ error: any Error, _ status: Int32) throws {
    say("\(error)")
    throw ExitCode(status)
  }
}
