import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue
import Logging

/// A process that works a queue: what it sets up before its first thread, and its worker.
struct WorkerProcess {
  let log: Logger
  private let parent: FetcherParent

  /// To be made while there is no other thread.
  ///
  /// - Throws: the exit status, once the log has said what went wrong.
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

  /// Opens the store and starts the engines.
  ///
  /// - Parameter keepsQueue: whether the queue is there after the run.
  /// - Throws: the exit status, once the log has said what went wrong.
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

  /// Ends the engines; not while the worker runs.
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
  /// Writes a worker's notice: as a warning where somebody should do something.
  fileprivate func notify(_ notice: WorkerNotice) {
    switch notice {
    case .fellBack(let explanation, let advice): notify(explanation, at: advice == nil ? .notice : .warning, "\(notice)")
    case .paused, .left: warning("\(notice)")
    case .resumed: self.notice("\(notice)")
    }
  }
}
