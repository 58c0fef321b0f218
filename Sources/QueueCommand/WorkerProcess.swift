import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue
import Logging

/// A process that works on a queue: its setup before the first thread, and its worker.
struct WorkerProcess {
  let log: Logger
  private let parent: FetcherParent

  /// Sets up the process. Call it while the process has one thread.
  ///
  /// - Throws: the exit status, after the error is logged.
  init(_ options: WorkOptions) throws {
    AmbientEnvironment.removeUnsafeVariables()
    ProcessMemory.tuneAllocator()
    StopSignals.block()
    DescriptorLimit.raise()
    log = options.logFormat.logger()
    for case let notice? in [options.notice, options.engine.fetching.notice] { log.notice("\(notice)") }
    do {
      parent = try options.engine.fetching.fetcherParent(options.engine.storage, options.engine.timing)
    } catch {
      log.error("\(error)")
      throw ExitCode(ExitStatus.software)
    }
  }

  /// Opens the store and starts the engine.
  ///
  /// - Parameter keepsQueue: whether the queue still exists after the run.
  /// - Throws: the exit status, after the error is logged.
  func assembly(
    _ options: WorkOptions, _ location: QueueLocation, _ queue: any PayloadQueue, keepsQueue: Bool = true, isOnce: Bool,
    observer: some WorkerObserver
  ) throws -> WorkerAssembly {
    let store = try started(ExitStatus.cannotCreate) { try options.engine.storage.open() }
    return try started(ExitStatus.software) {
      try WorkerAssembly(
        options, location, queue: queue, keepsQueue: keepsQueue, store: store, parent: parent, isOnce: isOnce, observer: observer,
        notify: { [log] in log.notify($0) }, tellOfFetchers: { [log] in log.warning("\($0)") })
    }
  }

  /// Ends the engine. Do not call this while the worker runs.
  func end(_ assembly: WorkerAssembly) {
    if let warning = assembly.shutdown() { log.warning("\(warning)") }
  }

  private func started<Value>(_ status: Int32, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      log.error("\(error)")
      throw ExitCode(status)
    }
  }
}

extension Logger {
  /// Logs a worker's notice, as a warning when the user should act.
  fileprivate func notify(_ notice: WorkerNotice) {
    switch notice {
    case .fellBack(let explanation, let advice): notify(explanation, at: advice == nil ? .notice : .warning, "\(notice)")
    case .paused, .left: warning("\(notice)")
    case .resumed: self.notice("\(notice)")
    }
  }
}
