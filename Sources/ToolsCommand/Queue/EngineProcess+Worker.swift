import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue
import Logging

/// A process that works on a queue.
extension EngineProcess {
  /// The descriptors that a worker and a fetcher need for one payload at a time. Below, the worker would
  /// pause for ever.
  private static let leastDescriptors: UInt = 64

  /// Sets up the process. Call it while the process has one thread.
  ///
  /// - Throws: the exit status, after the error is logged.
  init(_ options: WorkOptions) throws {
    try self.init(
      working: options.configuration(), options.logFormat.logger(), replacesParent: true, leastDescriptors: Self.leastDescriptors,
      notices: options.fetching.notice, options.program.notice(options.fetching))
  }

  /// Opens the store and starts the engine.
  ///
  /// - Parameter keepsQueue: whether the queue still exists after the run.
  /// - Throws: the exit status, after the error is logged.
  func assembly(
    _ options: WorkOptions, _ location: QueueLocation, _ queue: any PayloadQueue, keepsQueue: Bool = true, isOnce: Bool,
    observer: some WorkerObserver
  ) throws -> WorkerAssembly {
    try started { store, parent, uploader in
      try WorkerAssembly(
        options, configuration, location, queue: queue, keepsQueue: keepsQueue, store: store, parent: parent, uploader: uploader,
        isOnce: isOnce,
        observer: observer,
        notify: { [log] in log.notify($0) }, tellOfFetchers: { [log] in log.notify($0) },
        warn: { [log] in log.warning("\($0)") })
    }.1
  }

  /// Ends the engine. Do not call this while the worker runs.
  func end(_ assembly: WorkerAssembly) {
    if let warning = assembly.shutdown() { log.warning("\(warning)") }
  }
}

extension Logger {
  /// Logs a worker's notice, as a warning when the user should act.
  fileprivate func notify(_ notice: WorkerNotice) {
    switch notice {
    case .fellBack(let explanation, let advice): notify(explanation, at: advice == nil ? nil : .warning, "\(notice)")
    case .paused, .left, .queuePaused: warning("\(notice)")
    case .resumed: self.notice("\(notice)")
    }
  }

  /// Logs a notice about the fetcher processes.
  fileprivate func notify(_ notice: FetcherNotice) {
    switch notice {
    case .broken: error("\(notice); payloads in progress are given back to the queue")
    case .replaced, .parentReplaced, .unconfined, .originFails: warning("\(notice)")
    case .originAnswers: self.notice("\(notice)")
    }
  }
}
