import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue
import Logging

/// `attache work`: adds the media to the payloads of a queue.
struct Work: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "work", abstract: "Process a queue: attach media to its payloads.",
    discussion: """
      Any number of processes may work on one queue. No payload is lost when one is killed: another continues.

      After SIGTERM, SIGINT or SIGHUP, the worker claims nothing more and finishes what is in progress. After a second signal, it returns that to the \
      queue. The exit status is 75 when payloads without a result are left.
      """)

  @OptionGroup var queue: QueueOptions

  @Flag(help: "End when every payload has a result. (default: wait for more)")
  var once = false

  @OptionGroup var metrics: MetricsOptions

  @OptionGroup var options: WorkOptions

  func validate() throws {
    guard Validation.isOn else { return }
    try options.checkReach(of: try queue.queue.checked())
  }

  func run() throws {
    let process = try EngineProcess(options)
    try DistinctFiles.check(queue.location.files + (metrics.metricsFile.map { [("the file of --metrics-file", $0)] } ?? []), process.log)
    let figures = WorkerMetrics()
    let service = try metrics.start(figures, process.log)
    let opened = try queue.open(creates: false, sync: options.sync, process.log)
    defer { opened.close() }
    let assembly = try process.assembly(options, queue.location, opened, isOnce: once, observer: figures)
    let worker = assembly.worker
    figures.use(conversionWait: assembly.conversionWait)
    try service?.watch(opened, pulses: assembly.pulses)
    process.log.info("\(summary)")
    let drain = { @Sendable in
      service?.drain()
      worker.stop()
    }
    StopSignals.onEach(
      drain,
      {
        opened.stopWaiting()
        worker.cancel()
      },
      late: { process.log.notice("stopping: payloads in progress have --deadline to end; another signal returns them to the queue") })
    let outcome = Result { () throws(QueueError) in try worker.run() }
    service?.stop()
    process.end(assembly)
    let result = try orExit(process.log) { () throws(QueueError) in try outcome.get() }
    process.log.info("\(result.text)")
    if assembly.isBroken { throw ExitCode(ExitStatus.software) }
    if result.isWorkLeft { throw ExitCode(ExitStatus.temporaryFailure) }
  }
}
