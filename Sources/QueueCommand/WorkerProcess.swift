import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue
import Logging

/// A process that works a queue: what it sets up before its first thread, and how it ends.
struct WorkerProcess {
  let log: Logger

  /// To be made while there is no other thread.
  init(_ options: WorkOptions) throws {
    AmbientEnvironment.shed()
    ProcessMemory.tuneAllocator()
    StopSignals.block()
    DescriptorLimit.raise()
    log = options.logFormat.logger()
    if let notice = options.engine.fetching.notice { log.notice("\(notice)") }
  }

  /// Works the queue, and closes it.
  ///
  /// - Parameters:
  ///   - isOnce: whether it ends when every payload has a result.
  ///   - begin: is given the worker before it begins.
  /// - Throws: the exit status, once the log has said what went wrong.
  func run(
    _ options: WorkOptions, _ location: QueueLocation, _ queue: any PayloadQueue, isOnce: Bool, observer: some WorkerObserver,
    begin: (QueueWorker) -> Void
  ) throws -> WorkerResult {
    let store = try started(ExitStatus.cannotCreate) { try options.engine.storage.open() }
    let assembly = try started(ExitStatus.software) {
      try WorkerAssembly(
        options, location, queue: queue, store: store, isOnce: isOnce, observer: observer, explain: { log.notice("\($0)") })
    }
    begin(assembly.worker)
    let outcome = Result { () throws(QueueError) in try assembly.worker.run() }
    let warning = assembly.shutdown()
    queue.close()
    if let warning { log.warning("\(warning)") }
    return try orExit { () throws(QueueError) in try outcome.get() }
  }

  /// Says what went wrong and ends with the status.
  private func started<Value>(_ status: Int32, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      log.error("\(error)")
      throw ExitCode(status)
    }
  }
}
