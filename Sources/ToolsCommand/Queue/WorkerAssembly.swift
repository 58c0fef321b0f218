import Attache
import AttacheArguments
import AttacheQueue
import Synchronization

/// A queue worker and the engine that serves its payloads, configured by the flags.
struct WorkerAssembly {
  let worker: QueueWorker
  private let engine: EngineAssembly
  private let store: AttachmentStore

  /// Starts the engine and creates the worker.
  ///
  /// - Parameters:
  ///   - queue: belongs to the caller.
  ///   - keepsQueue: whether the queue still exists after the run.
  ///   - notify: receives what the user should know, on its own thread.
  ///   - tellOfFetchers: receives the notices about the fetcher processes.
  ///   - warn: receives the messages about the user's service extension.
  /// - Throws: an error that tells the user why the worker does not start.
  init(
    _ options: WorkOptions, _ engineConfiguration: EngineConfiguration, _ location: QueueLocation, queue: any PayloadQueue,
    keepsQueue: Bool, store: AttachmentStore, parent: FetcherParent, uploader: UploadClient?, isOnce: Bool,
    observer: some WorkerObserver,
    notify: @escaping @Sendable (WorkerNotice) -> Void, tellOfFetchers: @escaping @Sendable (FetcherNotice) -> Void,
    warn: @escaping @Sendable (String) -> Void
  ) throws {
    var configuration = WorkerConfiguration(queue: location)
    configuration.filter = engineConfiguration.filter
    configuration.attempts = options.attempts
    configuration.poisonAfter = options.poisonAfter
    configuration.sync = options.sync
    configuration.holdsFiles = uploader == nil
    (configuration.keepsQueue, configuration.isOnce) = (keepsQueue, isOnce)
    let ending = Mutex<(@Sendable () -> Void)?>(nil)
    engine = try EngineAssembly(
      engineConfiguration, store: store, parent: parent, uploader: uploader,
      notify: { notice in
        tellOfFetchers(notice)
        if case .broken = notice { ending.withLock { $0 }?() }
      }, warn: warn)
    worker = try QueueWorker(
      configuration, queue: queue, host: engine.host, store: store, clock: engine.clock, observer: observer,
      notify: { [engine] notice in
        // The worker ends, so it does not say that it tries again.
        if case .paused = notice, engine.isBroken { return }
        notify(notice)
      },
      places: engine.places(within: configuration.filter.deadline))
    engine.whenPlacesRise { [weak worker] in worker?.lookForPlaces() }
    ending.withLock { [worker] in $0 = { worker.cancel() } }
    if engine.isBroken { worker.cancel() }
    self.store = store
  }

  /// Whether media can no longer be fetched.
  var isBroken: Bool { engine.isBroken }

  /// How long a conversion that begins now waits (``EngineAssembly/conversionWait``).
  var conversionWait: (@Sendable () -> Duration)? { engine.conversionWait }

  /// The functions that request the state of the origins from the fetcher.
  var pulses: [MetricsCollector.Pulse] {
    [{ [engine] in engine.pulse($0) }]
  }

  /// Ends the fetcher's threads and the store. Do not call this while the worker runs.
  ///
  /// - Returns: a warning for the user about the cache, or nil.
  func shutdown() -> String? {
    let warning = engine.shutdown()
    store.shutdown()
    return warning
  }
}
