import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue
import Glibc
import Logging

/// `attache batch`: processes a file's payloads through a queue in one run.
struct BatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "batch", abstract: "Attach media to the payloads of a file; resume after an interruption.",
    discussion: """
      The command adds the lines of FILE to a queue, processes them, and writes the results in the order of FILE. If it is interrupted, run the same command \
      again: it keeps the results that it has, and does not fetch their media again. OUT appears when it is complete. The queue is a file beside OUT, or beside FILE, \
      and is deleted when the batch is done. --queue names another queue, which is kept.
      """)

  @Argument(
    help: "The file to read, one payload a line; - is standard input, which must start with the same lines when the batch is resumed.")
  var file: String

  @Option(name: [.customShort("o"), .long], help: ArgumentHelp("The file to write. (default: standard output)", valueName: "file"))
  var output: String?

  @Option(
    help: ArgumentHelp(
      "The batch's queue: sqlite:PATH or postgresql://HOST/DATABASE, used only by this batch.", valueName: "queue"))
  var queue: QueueArgument?

  @OptionGroup var waiting: QueueTimeoutOption

  @Option(help: ArgumentHelp("Write one JSON object for each input line, with its outcome.", valueName: "file"))
  var report: String?

  @Flag(help: "Exit with 65 if any line was invalid.")
  var strict = false

  @Option(help: "Show progress on standard error: auto, always or never.")
  var progress = ProgressChoice.auto

  @OptionGroup var options: WorkOptions

  func validate() throws {
    guard Validation.isOn else { return }
    guard file != "-" || output != nil || queue != nil else {
      throw ValidationError("a batch from standard input needs -o or --queue, so that it can be resumed after a kill.")
    }
    if let queue { return try options.checkReach(of: try queue.checked()) }
    if report == nil { try Validation.checkCompanions(of: "--report or --queue", ("--report-key", options.reportKey != nil)) }
  }

  func run() throws {
    // Opening a pipe waits for its other end. A signal must end the process meanwhile.
    StopSignals.endProcess()
    let log = options.logFormat.logger()
    let input = try InputFile(file, log)
    guard output != nil || queue != nil || FileIdentity(descriptor: input.descriptor) != nil else {
      log.error("\(input.name) is not a regular file; it needs -o or --queue, so that the batch can be resumed after a kill")
      throw ExitCode.validationFailure
    }
    let files = try BatchFiles(input: input.descriptor, output: output, report: report, queue: location, log)
    let process = try EngineProcess(options)
    let opened = try location.open(creates: true, sync: options.sync, timeout: waiting.queueTimeout.duration, log)
    defer { opened.close() }
    let observer = try orExit(process.log, ExitStatus.software) { try BatchObserver() }
    let assembly = try process.assembly(
      options, location, opened, keepsQueue: queue != nil, isOnce: false, observer: observer)
    let result = Result { () throws(BatchFailure) in
      let batch = try Batch(
        opened, worker: assembly.worker, observer: observer, payloadPath: options.payloads.payloadPath)
      StopSignals.onEach(
        { batch.stop() },
        {
          opened.stopWaiting()
          batch.cancel()
        }, late: { log.notice("stopping: payloads in progress have --deadline to end; another signal leaves them for the next run") })
      if progress.isOn { BatchLine.show(batch) }
      let result = try batch.run(input: input.descriptor, output: files.output, report: files.report)
      guard result.isComplete else { return result }
      try files.finish()
      try batch.release()
      return result
    }
    ErrorOutput.endProgress()
    process.end(assembly)
    try finish(result, input, process.log, hasFetchers: !assembly.isBroken)
  }

  /// Logs how the batch ended, removes the queue when it is no longer needed, and throws the exit
  /// status.
  private func finish(_ result: Result<Batch.Result, BatchFailure>, _ input: InputFile, _ log: Logger, hasFetchers: Bool) throws {
    let result = try result.get(orExit: input.name, location, log)
    log.info("\(result.summary.text(elapsed: result.elapsed))")
    guard result.isComplete else {
      log.notice("some payloads have no result yet; to resume, run the same command again")
      throw ExitCode(hasFetchers ? ExitStatus.temporaryFailure : ExitStatus.software)
    }
    if queue == nil { try orExit(log) { () throws(QueueError) in try location.remove() } }
    if strict, result.summary.lines(.invalid) > 0 { throw ExitCode(ExitStatus.data) }
  }

  private var location: QueueLocation {
    queue?.location ?? .sqlite(path: (output ?? file) + ".attache-queue")
  }
}

extension Result<Batch.Result, BatchFailure> {
  /// Returns the result, or logs what went wrong and what to do, and throws the exit status.
  fileprivate func get(orExit input: String, _ queue: QueueLocation, _ log: Logger) throws -> Batch.Result {
    switch self {
    case .success(let result): return result
    case .failure(let failure):
      log.error("\(failure.text(input: input, queue: queue))")
      throw ExitCode(failure.exitStatus)
    }
  }
}

extension BatchFailure {
  fileprivate var exitStatus: Int32 {
    switch self {
    case .input, .output, .report: ExitStatus.inputOutput
    case .system: ExitStatus.software
    case .queue(let error): error.exitStatus
    case .changed, .otherPayloads, .overlong: ExitStatus.data
    }
  }

  /// One line for the log: what is wrong and what to do.
  fileprivate func text(input: String, queue: QueueLocation) -> String {
    switch self {
    case .input(let error): "\(input): \(error); to resume, run the same command again"
    case .output(let error): "the output: \(error); free space or choose another -o; to resume, run the same command again"
    case .report(let error): "the report: \(error); to resume, run the same command again"
    case .system(let error): "the system refuses: \(error)"
    case .queue(let error): "\(error)"
    case .changed(let line):
      "line \(line) of \(input) has changed since the batch in \(queue.message) was started, and was not added; give the same file again, "
        + "or start again with another --queue"
    case .otherPayloads(let inQueue, let lines):
      "\(queue.message) has \(inQueue) payloads and \(input) \(lines) lines: the batch was started with another file, or this file is shorter now; "
        + "give the same file again, or start again with another --queue"
    case .overlong(let line):
      "line \(line) of \(input) is longer than 64 MiB, the limit of a queue; send it through the filter, or remove it"
    }
  }
}
