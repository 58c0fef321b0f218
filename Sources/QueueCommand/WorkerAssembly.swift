import Attache
import AttacheArguments
import AttacheQueue
import Synchronization

/// A queue's worker as the flags have it, with the engine that serves the payloads.
struct WorkerAssembly {
  let worker: QueueWorker
  private let engine: EngineAssembly
  private let store: AttachmentStore

  /// - Parameters:
  ///   - queue: stays the caller's.
  ///   - keepsQueue: whether the queue is there after the run.
  ///   - tell: receives what the user should know, on a thread of its own.
  /// - Throws: what says why a worker does not start, in words for its user.
  init(
    _ options: WorkOptions, _ location: QueueLocation, queue: any PayloadQueue, keepsQueue: Bool, store: AttachmentStore,
    parent: FetcherParent,
    isOnce: Bool, observer: some WorkerObserver, notify: @escaping @Sendable (WorkerNotice) -> Void,
    tellOfFetchers: @escaping @Sendable (FetcherNotice) -> Void
  ) throws {
    var configuration = WorkerConfiguration(queueName: location.description)
    configuration.filter = try options.engine.configuration()
    configuration.attempts = options.attempts
    configuration.poisonAfter = options.poisonAfter
    configuration.sync = options.sync
    (configuration.keepsQueue, configuration.isOnce) = (keepsQueue, isOnce)
    let ending = Mutex<(@Sendable () -> Void)?>(nil)
    engine = try EngineAssembly(
      options.engine.timing, options.engine.fetching, store: store, parent: parent,
      notify: { notice in
        tellOfFetchers(notice)
        if case .broken = notice { ending.withLock { $0 }?() }
      })
    worker = try QueueWorker(
      configuration, queue: queue, host: engine.host, store: store, clock: engine.clock, observer: observer, notify: notify)
    ending.withLock { [worker] in $0 = { worker.cancel() } }
    if engine.isBroken { worker.cancel() }
    self.store = store
  }

  /// Whether no media can be fetched any more.
  var isBroken: Bool { engine.isBroken }

  /// What asks the fetcher how its origins stand.
  var pulses: [MetricsCollector.Pulse] {
    [{ [engine] in engine.pulse($0) }]
  }

  /// Ends the fetcher's threads; not while the worker runs.
  ///
  /// - Returns: what the user should know of the cache.
  func shutdown() -> String? {
    let warning = engine.shutdown()
    store.shutdown()
    return warning
  }
}
