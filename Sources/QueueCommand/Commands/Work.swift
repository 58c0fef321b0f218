import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue
import Logging

/// `attache work`: gives the payloads of a queue their media.
struct Work: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "work", abstract: "Work a queue: give its payloads their media.",
    discussion: """
      Any number of processes may work one queue. Killed at any instant, nothing is lost: the next one goes on. SIGTERM, SIGINT or SIGHUP once: nothing more is \
      claimed, what is in flight is finished; twice: it is given back. The exit status is 75 when payloads are left without a result.
      """)

  @OptionGroup var queue: QueueOptions

  @Flag(help: "End when every payload has a result. (default: wait for more)")
  var once = false

  @OptionGroup var metrics: MetricsOptions

  @OptionGroup var options: WorkOptions

  func run() throws {
    let process = try WorkerProcess(options)
    try DistinctFiles.check(queue.queue.files + (metrics.metricsFile.map { [("the file of --metrics-file", $0)] } ?? []), process.log)
    let opened = try queue.open(creates: false, sync: options.sync, process.log)
    defer { opened.close() }
    let figures = WorkerMetrics()
    let assembly = try process.assembly(options, queue.queue, opened, isOnce: once, observer: figures)
    let worker = assembly.worker
    let service = try metrics.start(opened, figures, process.log, pulses: assembly.pulses)
    let drain = { @Sendable in
      service?.drain()
      worker.stop()
    }
    StopSignals.onEach(drain, { worker.cancel() })
    let outcome = Result { () throws(QueueError) in try worker.run() }
    service?.stop()
    process.end(assembly)
    let result = try orExit(process.log) { () throws(QueueError) in try outcome.get() }
    process.log.info("\(result.text)")
    if assembly.isBroken { throw ExitCode(ExitStatus.software) }
    if result.isWorkLeft { throw ExitCode(ExitStatus.temporaryFailure) }
  }
}
